// One file with everything in it but the editor's own module, and the files that stand elsewhere in the repository.
import { copyFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  entryPoints: [here("src/extension.mjs")],
  outfile: here("dist/extension.js"),
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: true,
  legalComments: "eof",
  logLevel: "warning",
});
await copyFile(here("../../pypto_spec/spec/schema.json"), here("dist/schema.json"));
await copyFile(here("../../LICENSE"), here("dist/LICENSE"));
