// Runs `pypto-spec` for a command of the editor.
// @ts-check

import { execFile } from "node:child_process";

/**
 * The arguments for a spec, with the constants of the settings.
 * @param {readonly string[]} command
 * @param {string} file
 * @param {Record<string, unknown>} defines
 */
export function argumentsFor(command, file, defines) {
  return [...command, file, ...Object.entries(defines).flatMap(([name, value]) => ["-D", `${name}=${value}`])];
}

/**
 * What a run printed. Rejects with what it said on standard error.
 * @param {string} path
 * @param {readonly string[]} parts
 * @param {string} folder
 * @returns {Promise<string>}
 */
export function run(path, parts, folder) {
  return new Promise((resolve, reject) => {
    execFile(path, parts, { cwd: folder, maxBuffer: 64 << 20, env: { ...process.env, NO_COLOR: "1" } }, (error, out, err) => {
      if (error) reject(new Error(err.trim() || error.message));
      else resolve(out);
    });
  });
}
