// Taplo's server over stdio: the package is WebAssembly that knows neither files nor streams.
import { readFile, writeFile } from "node:fs/promises";
import { isAbsolute } from "node:path";

import taplo from "@taplo/lsp";

globalThis.fetch = async () => { throw new TypeError("offline"); };
const environment = {
  now: () => new Date(),
  envVar: (name) => process.env[name],
  envVars: () => Object.entries(process.env),
  stdErrAtty: () => false,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  glob: () => [],
  readFile: (path) => readFile(path),
  writeFile: (path, bytes) => writeFile(path, bytes),
  urlToFilePath: (url) => decodeURI(url).replace(/^file:\/\//, ""),
  isAbsolute: (path) => isAbsolute(path),
  cwd: () => process.cwd(),
  findConfigFile: () => undefined,
};

function write(message) {
  const body = Buffer.from(JSON.stringify(message));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
}

const server = await taplo.TaploLsp.initialize(environment, { onMessage: write });
let buffer = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    const length = end < 0 ? NaN : Number(/Content-Length: (\d+)/i.exec(buffer.toString("latin1", 0, end))?.[1]);
    if (!(buffer.length >= end + 4 + length)) return;
    const message = JSON.parse(buffer.toString("utf8", end + 4, end + 4 + length));
    buffer = buffer.subarray(end + 4 + length);
    if (message.method === "exit") process.exit(0);
    server.send(message);
  }
});
process.stdin.on("end", () => process.exit(0));
