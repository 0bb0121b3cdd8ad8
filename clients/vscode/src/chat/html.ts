/** The page of the chat view: nothing is allowed but our own script, style and font. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

export function chatPage(webview: vscode.Webview, extension: vscode.Uri): string {
  const nonce = randomBytes(16).toString("hex");
  const file = (name: string): string =>
    webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", name)).toString();
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    `img-src ${webview.cspSource} data:`,
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${file("chat.css")}">
<title>Sidekicks</title>
</head>
<body>
<script nonce="${nonce}" src="${file("chat.js")}"></script>
</body>
</html>`;
}
