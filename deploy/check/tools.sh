#!/usr/bin/env bash
# Builds the programs that judge the Kubernetes files into .tools/, from Go modules: helm, kubectl-validate (the API
# server's own schemas), the definitions of the Gateway API, and actionlint, which judges .github/workflows. Does nothing
# where they are there already.
set -euo pipefail
cd "$(dirname "$0")/../.."
helm=v3.22.0
validate=v0.0.4
gateway=v1.6.0
actionlint=v1.7.12
tools="$PWD/.tools"
stamp="$tools/$helm-$validate-$gateway-$actionlint"
[ ! -e "$stamp" ] || exit 0
command -v go >/dev/null || { echo 'go is not installed: the Kubernetes files are not judged' >&2; exit 3; }
mkdir -p "$tools/bin"
GOBIN="$tools/bin" go install "helm.sh/helm/v3/cmd/helm@$helm"
GOBIN="$tools/bin" go install "sigs.k8s.io/kubectl-validate@$validate"
GOBIN="$tools/bin" go install "github.com/rhysd/actionlint/cmd/actionlint@$actionlint"
module=$(cd / && go mod download -json "sigs.k8s.io/gateway-api@$gateway" | node -e 'console.log(JSON.parse(require("node:fs").readFileSync(0, "utf8")).Dir)')
rm -rf "$tools/crds"
cp -r "$module/config/crd/standard" "$tools/crds"
chmod -R u+w "$tools/crds"
touch "$stamp"
