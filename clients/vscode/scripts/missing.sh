#!/bin/sh
# Succeeds when the end-to-end tests can run here; else says what is missing.
command -v npm >/dev/null || { echo 'there is no npm'; exit 1; }
[ -d "$(dirname "$0")/../../../.build/vscode/cs" ] || { echo 'code-server is not installed here'; exit 1; }
for browser in "${CHROMIUM:-chromium}" chromium-browser google-chrome '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'; do
    if command -v "$browser" >/dev/null; then exit 0; fi
done
echo 'there is no Chromium'
exit 1
