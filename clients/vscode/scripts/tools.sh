#!/usr/bin/env bash
# Installs what the end-to-end tests drive into .build/vscode: Node 24, code-server (a real VS Code) and, where apt can,
# Chromium. A second run does nothing. usage: tools.sh node|all
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
build=$root/.build/vscode
node_version=24.22.3
server_version=4.139.1
export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_loglevel=error

case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) platform=linux-x64 ;;
    Linux-aarch64) platform=linux-arm64 ;;
    Darwin-arm64) platform=darwin-arm64 ;;
    Darwin-x86_64) platform=darwin-x64 ;;
    *) echo "tools.sh: no Node for $(uname -s) $(uname -m)" >&2; exit 1 ;;
esac

install_node() { # the binary and its headers, from a package without install scripts
    [ -f "$build/tools/.done-$node_version" ] && return
    rm -rf "$build/tools" && mkdir -p "$build/tools"
    (cd "$build/tools" && npm init -y >/dev/null && npm install --ignore-scripts "node-$platform@$node_version" >/dev/null)
    ln -sfn "node_modules/node-$platform" "$build/tools/node"
    touch "$build/tools/.done-$node_version"
}

install_server() {
    [ -f "$build/cs/.done-$server_version" ] && return
    rm -rf "$build/cs" && mkdir -p "$build/cs"
    cd "$build/cs"
    npm init -y >/dev/null
    npm install --ignore-scripts "code-server@$server_version" >/dev/null
    cd node_modules/code-server/lib/vscode
    npm install --ignore-scripts --omit=dev >/dev/null # what its own install script would do, pinned by its shrinkwrap
    npm rebuild --nodedir="$build/tools/node" @vscode/spdlog @vscode/native-watchdog >/dev/null
    touch "$build/cs/.done-$server_version"
}

install_browser() {
    for name in "${CHROMIUM:-chromium}" chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null && return
    done
    [ -d '/Applications/Google Chrome.app' ] && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
    else
        echo 'tools.sh: there is no Chromium; install one, or say in CHROMIUM where it is' >&2
        exit 1
    fi
}

mkdir -p "$build"
install_node
export PATH=$build/tools/node/bin:$PATH
if [ "${1:-all}" = all ]; then
    install_server
    install_browser
fi
