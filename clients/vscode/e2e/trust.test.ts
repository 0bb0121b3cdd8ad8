// A folder that is not trusted, a bridge that is not there, a configuration without an agent.
import { test } from "node:test";
import { Bed, BRIDGE } from "./support/bed.ts";
import { inWindow, scene } from "./support/scene.ts";
import { Server } from "./support/server.ts";

test("without trust no agent runs, the folder's own settings are not heard, and the view says so", async () => {
  const server = await Server.start({ trust: false, machine: { "sidekicks.bridge.command": BRIDGE } });
  const bed = new Bed(server, { settings: { "sidekicks.bridge.command": ["/bin/false"] } });
  try {
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
  } finally {
    await server.stop();
  }
});

scene("Without an agent", { agents: {}, channels: [] }, (s) => {
  test("the list says how to come by one, and a walkthrough leads there", async () => {
    const { page } = s.window;
    const welcome = page.locator(".welcome-view-content", { hasText: "No agent is configured yet" });
    await welcome.getByRole("button", { name: "Open Configuration" }).click();
    await page.locator(".tab.active", { hasText: "sidekicks.yaml" }).waitFor();
    await s.window.command("Welcome: Open Walkthrough");
    await s.window.pick("Get Started with Sidekicks").click();
    for (const step of ["Have the bridge at hand", "Add your agents", "Ask, and ask another"]) {
      await page.locator(".getting-started-step", { hasText: step }).waitFor();
    }
  });
});

scene("Without a bridge", { settings: { "sidekicks.bridge.command": ["/nowhere/sidekicks"] } }, (s) => {
  test("that is said, with the ways out", async () => {
    await s.chat.locator(".banner", { hasText: "The bridge does not run" }).waitFor();
    await s.window.page.locator(".welcome-view-content", { hasText: "was not found" }).waitFor();
    const notice = await s.window.notification("does not start Sidekicks Bridge");
    for (const way of ["Open Settings", "Show Log", "Install"]) {
      await notice.getByRole("button", { name: way }).waitFor();
    }
    await notice.getByRole("button", { name: "Open Settings" }).click();
    await s.window.page.locator(".settings-editor", { hasText: "Command" }).waitFor();
  });
});
