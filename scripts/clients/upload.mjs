// Uploads a file to a session with Google's resumable upload, and leaves the resuming to it: it keeps the
// session's address and the file's first bytes in a file of its own, and asks the server how far it came.
//
//   node upload.mjs FILE STATE [--session URL] [--die-after BYTES]
//
// STATE is the client's own file. With --session an upload begins; without, the one of STATE goes on.
// With --die-after the process kills itself (-9) in the middle of the chunk that begins behind so many bytes.
// Prints the offset it began at, and in the end the server's answer.
import { createReadStream, statSync } from "node:fs";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { upload } from "gcs-resumable-upload";

// A multiple of 256 KiB, as the client's documentation asks for.
const CHUNK = 8 * 2 ** 20;
// The client joins what it reads into chunks, each time copying all it has: few large reads spare that.
const READ = 2 ** 20;
// Long enough for part of a chunk to be on its way, too short for all of it to be answered.
const INTO_CHUNK_MS = 3;

const { values, positionals } = parseArgs({
  options: { session: { type: "string" }, "die-after": { type: "string" } },
  allowPositionals: true,
});
const [file, state] = positionals;
const dieAfter = Number(values["die-after"] ?? Infinity);

const sending = upload({
  bucket: "checkpoints",
  file: basename(file),
  uri: values.session,
  // Any address but Google's: then the client asks nobody for credentials.
  apiEndpoint: "http://127.0.0.1:9",
  chunkSize: CHUNK,
  configPath: state,
  metadata: { contentLength: statSync(file).size },
});

let began = false;
sending.on("progress", ({ bytesWritten }) => {
  if (!began) {
    began = true;
    console.log(`from ${sending.offset}`);
  }
  if (bytesWritten > dieAfter) {
    setTimeout(() => process.kill(process.pid, "SIGKILL"), INTO_CHUNK_MS);
  }
});
sending.on("metadata", (answer) => console.log(`answer ${JSON.stringify(answer)}`));

await pipeline(createReadStream(file, { highWaterMark: READ }), sending);
