// Writes dist/pypto-spec-VERSION.vsix at the top of the repository.
import { mkdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createVSIX } from "@vscode/vsce";
import "./build.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { name, version } = JSON.parse(await readFile(here("package.json"), "utf8"));
const packagePath = here(`../../dist/${name}-${version}.vsix`);

await mkdir(here("../../dist"), { recursive: true });
await createVSIX({ cwd: here("."), packagePath, dependencies: false, skipLicense: true, allowMissingRepository: true });
console.log(`written: dist/${name}-${version}.vsix`);
