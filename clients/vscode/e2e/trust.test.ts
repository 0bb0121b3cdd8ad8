// A folder that is not trusted, a bridge that is not there, a configuration without an agent.
import { suite, test } from "node:test";
import { Bed, BRIDGE } from "./support/bed.ts";
import { inWindow } from "./support/scene.ts";
import { Server } from "./support/server.ts";
import { sharedServer } from "./support/shared.ts";

suite("Where nothing may be taken for granted", () => {
  test("without trust no agent runs, the folder's own settings are not heard, and the view says so", async () => {
    const server = await Server.start({ trust: false, machine: { "sidekicks.bridge.command": BRIDGE } });
    const bed = new Bed(server, { settings: { "sidekicks.bridge.command": ["/bin/false"] } });
    await inWindow(bed, async (window) => {
      await window.page.locator(".statusbar", { hasText: "Restricted Mode" }).waitFor();
      const chat = await window.chat(); // the machine's command, not the folder's, was used
      await chat.locator(".banner", { hasText: "not trusted" }).waitFor();
      await chat.getByRole("button", { name: "Manage Trust" }).waitFor();
      await window.row(/Scout/).click(); // nor the folder's configuration
      await window.shown("@scout");
      await window.say("run");
      await chat.locator(".message", { hasText: "not trusted" }).first().waitFor();
      await window.row(/Scout.*stopped/).waitFor();
    });
    await server.stop();
    bed.remove();
  });

  test("without an agent the list says how to come by one, and a walkthrough leads there", async () => {
    const bed = new Bed(await sharedServer(), { agents: {}, channels: [] });
    await inWindow(bed, async (window) => {
      await window.chat(".composer");
      const welcome = window.page.locator(".welcome-view-content", { hasText: "No agent is configured yet" });
      await welcome.getByRole("button", { name: "Open Configuration" }).click();
      await window.page.locator(".tab.active", { hasText: "sidekicks.yaml" }).waitFor();
      await window.command("Welcome: Open Walkthrough");
      await window.pick("Get Started with Sidekicks").click();
      for (const step of ["Have the bridge at hand", "Add your agents", "Ask, and ask another"]) {
        await window.page.locator(".getting-started-step", { hasText: step }).waitFor();
      }
    });
    bed.remove();
  });

  test("a bridge that is not there is said, with the ways out", async () => {
    const missing = { "sidekicks.bridge.command": ["/nowhere/sidekicks"] };
    const bed = new Bed(await sharedServer(), { settings: missing });
    await inWindow(bed, async (window) => {
      const chat = await window.chat(".composer");
      await chat.locator(".banner", { hasText: "The bridge does not run" }).waitFor();
      await window.page.locator(".welcome-view-content", { hasText: "was not found" }).waitFor();
      const notice = await window.notification("does not start Sidekicks Bridge");
      for (const way of ["Open Settings", "Show Log", "Install"]) {
        await notice.getByRole("button", { name: way }).waitFor();
      }
      await notice.getByRole("button", { name: "Open Settings" }).click();
      await window.page.locator(".settings-editor", { hasText: "Command" }).waitFor();
    });
    bed.remove();
  });
});
