// Which documents are specs. The server judges by the same signs; this one is asked where there is no server.
// @ts-check

const NAMED = /\.kernel\.(ya?ml|toml)$/i;
const MODELINE = /^#.*(?:\$schema\s*[=:]|:schema\s).*pypto[-_]spec/im;
const VERSION = { yaml: /^spec[ \t]*:[ \t]*["']?v\d/m, toml: /^spec[ \t]*=[ \t]*["']v\d/m };

/**
 * @param {string} name the file's name or address
 * @param {string} language `yaml` or `toml`; others are no specs
 * @param {string} text
 */
export function isSpec(name, language, text) {
  if (language !== "yaml" && language !== "toml") return false;
  const head = text.split("\n", 10).join("\n");
  return NAMED.test(name) || MODELINE.test(head) || VERSION[language].test(text);
}
