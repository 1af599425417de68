// A finding is shown once: YAML and TOML extensions read the schema too, and say less about the same mistake.
// @ts-check

/**
 * @typedef {{ start: { line: number, character: number } }} Place
 * @typedef {{ range: Place, source?: string }} Finding
 */

const SCHEMAS = /^(yaml|even better toml|taplo|tombi)/i;

/**
 * Those of the server's findings that no reader of the schema shows at the same place already.
 * @template {Finding} T
 * @param {readonly T[]} own
 * @param {readonly Finding[]} shown
 * @returns {T[]}
 */
export function shownOnce(own, shown) {
  const places = new Set(shown.filter((finding) => SCHEMAS.test(finding.source ?? "")).map(place));
  return own.filter((finding) => !places.has(place(finding)));
}

/** @param {Finding} finding */
function place({ range }) {
  return `${range.start.line}:${range.start.character}`;
}
