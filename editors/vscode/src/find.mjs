// Where the program `pypto-spec` is.
// @ts-check

import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/**
 * @typedef {object} Places
 * @property {string} configured the setting `pyptoSpec.path`
 * @property {readonly string[]} folders the folders of the workspace
 * @property {Record<string, string | undefined>} environment
 * @property {NodeJS.Platform} platform
 * @property {(path: string) => boolean} exists
 */

/**
 * The path of the program, or the places where it was looked for.
 * @param {Places} places
 * @returns {{ path: string } | { looked: string[] }}
 */
export function findServer(places) {
  const { configured, folders, environment, exists } = places;
  const looked = configured.trim() ? expanded(configured.trim(), folders) : candidates(places);
  const path = looked.find(exists);
  if (path !== undefined) return { path };
  const word = configured.trim();
  if (word && !/[\\/]/.test(word)) {
    const found = onPath(word, environment, places.platform).find(exists);
    if (found !== undefined) return { path: found };
  }
  return { looked };
}

/**
 * @param {string} path
 * @param {readonly string[]} folders
 */
function expanded(path, folders) {
  const home = path.replace(/^~(?=[\\/]|$)/, homedir());
  const variable = "${workspaceFolder}";
  return home.includes(variable) ? folders.map((folder) => home.replaceAll(variable, folder)) : [home];
}

/** @param {Places} places */
function candidates({ folders, environment, platform }) {
  const windows = platform === "win32";
  const name = windows ? "pypto-spec.exe" : "pypto-spec";
  const inside = windows ? "Scripts" : "bin";
  const active = environment.VIRTUAL_ENV ?? environment.CONDA_PREFIX;
  return [
    ...folders.flatMap((folder) => [".venv", "venv"].map((venv) => join(folder, venv, inside, name))),
    ...(active ? [join(active, inside, name)] : []),
    ...onPath(name, environment, platform),
  ];
}

/**
 * @param {string} name
 * @param {Record<string, string | undefined>} environment
 * @param {NodeJS.Platform} platform
 */
function onPath(name, environment, platform) {
  const separator = platform === "win32" ? ";" : platform === process.platform ? delimiter : ":";
  const path = environment.PATH ?? environment.Path ?? "";
  return path.split(separator).filter(Boolean).map((folder) => join(folder, name));
}
