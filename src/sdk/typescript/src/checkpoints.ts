import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Checkpoint, Client, PublicCheckpoint } from "./client.js";
import type { components } from "./contracts/checkpoints.js";
import { AnswerLost, BourseError, DigestMismatch, FileChanged, mayPass, nothingHappened } from "./errors.js";
import { chunks, lost, refusal, Tries } from "./http.js";
import { Conflict, Gone, NotFound, SecretDetected, UploadTimeout } from "./refusals.js";

/** Is told how many bytes of how many have been sent or received. */
export type Progress = (done: number, total: number) => void;

export interface UploadOptions {
  title?: string;
  /** The name it is published under; the file's own by default. */
  filename?: string;
  description?: string;
  contentType?: string;
  visibility?: "org" | "public";
  replace?: boolean | string;
  progress?: Progress;
  /** Keeps the session, a secret, until the commit, so that a later process can go on. */
  resumeFile?: string;
  /** Sent in one request at most, and kept in memory for it. */
  chunkBytes?: number;
}

export interface DownloadOptions {
  /** From the public feed instead of the organization's files. */
  public?: boolean;
  progress?: Progress;
}

type Publication = components["schemas"]["Publication"];

interface Session {
  server: string;
  publication: Publication;
  id: string;
  revision: number;
  session_url: string;
}

const CHUNK_BYTES = 8 * 1024 * 1024;

async function digestOf(path: string): Promise<string> {
  const digest = createHash("sha256");
  for await (const block of createReadStream(path)) {
    digest.update(block as Buffer);
  }
  return digest.digest("hex");
}

/** The bytes from `start` up to `end` of a file. */
async function part(path: string, start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(end - start);
  const file = await open(path);
  try {
    let at = 0;
    while (at < bytes.length) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, start + at);
      if (bytesRead === 0) {
        throw new FileChanged(`${path} was changed while it was sent`);
      }
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
  return bytes;
}

/** An upload under way. */
class Upload {
  session: Session | undefined;

  constructor(
    readonly client: Client,
    readonly path: string,
    readonly options: UploadOptions,
    readonly bytes: number,
    readonly written: number,
    readonly publication: Publication,
  ) {}

  async begin(anew: boolean): Promise<void> {
    this.session = (anew ? undefined : await this.#resumed()) ?? (await this.#announced());
  }

  /** What an earlier process left, if it was about the same publication at the same service. */
  async #resumed(): Promise<Session | undefined> {
    if (!this.options.resumeFile) {
      return undefined;
    }
    try {
      const session = JSON.parse(await readFile(this.options.resumeFile, "utf8")) as Session;
      const same =
        session.server === this.client.url &&
        JSON.stringify(session.publication) === JSON.stringify(this.publication);
      return same ? session : undefined;
    } catch {
      return undefined;
    }
  }

  async #announced(): Promise<Session> {
    const answer = await this.#announce();
    const session: Session = {
      server: this.client.url,
      publication: this.publication,
      id: answer.id,
      revision: answer.revision,
      session_url: answer.session_url ?? "",
    };
    if (this.options.resumeFile) {
      // It holds the session's secret: for nobody else to read, and there as a whole or not at all.
      const fresh = `${this.options.resumeFile}.${process.pid}`;
      await writeFile(fresh, JSON.stringify(session), { mode: 0o600 });
      await rename(fresh, this.options.resumeFile);
    }
    return session;
  }

  /** Announcing again gives one's own earlier announcement up, so that a lost answer does no harm. */
  async #announce(): Promise<components["schemas"]["Announcement"]> {
    const tries = new Tries(this.client.retry);
    let replace = this.publication.replace;
    for (;;) {
      try {
        const body: Publication = { ...this.publication, ...(replace === undefined ? {} : { replace }) };
        return await this.client.call("publishCheckpoint", { body });
      } catch (e) {
        if (!mayPass(e)) {
          throw e;
        }
        await tries.after(e);
        if (replace === false && !nothingHappened(e)) {
          replace = (await this.#lostAnnouncement()) ?? false;
        }
      }
    }
  }

  /** The item that a lost announcement has made, which `replace: false` would not touch again. */
  async #lostAnnouncement(): Promise<string | undefined> {
    const { filename, visibility, sha256 } = this.publication;
    for await (const item of this.client.checkpoints(filename)) {
      const isPlace = item.filename === filename && item.visibility === visibility;
      if (isPlace && item.status === "pending" && item.can_delete && item.sha256 === sha256) {
        return item.id;
      }
    }
    return undefined;
  }

  async forget(): Promise<void> {
    if (this.options.resumeFile) {
      await rm(this.options.resumeFile, { force: true });
    }
  }

  async requireUnchanged(): Promise<void> {
    const facts = await stat(this.path);
    if (facts.size !== this.bytes || facts.mtimeMs !== this.written) {
      throw new FileChanged(`${this.path} was changed while it was sent`);
    }
  }

  /** One request, and how many bytes the service has after it. */
  async put(range: string, body: Uint8Array<ArrayBuffer> | null): Promise<number> {
    const address = this.session?.session_url ?? "";
    let answer: Response;
    try {
      answer = await fetch(address, {
        method: "PUT",
        headers: { "Content-Range": range, "Content-Type": "application/octet-stream" },
        body,
        redirect: "manual",
      });
      await answer.clone().arrayBuffer();
    } catch (e) {
      throw lost("putUpload", new URL(address).origin, e);
    }
    if (answer.status === 308) {
      const kept = /-(\d+)$/.exec(answer.headers.get("Range") ?? "")?.[1];
      return kept === undefined ? 0 : Number(kept) + 1;
    }
    if (!answer.ok) {
      throw await refusal("putUpload", answer, new URL(address).origin);
    }
    return this.bytes;
  }

  async send(start: number): Promise<number> {
    const end = Math.min(this.bytes, start + (this.options.chunkBytes ?? CHUNK_BYTES));
    return this.put(`bytes ${start}-${end - 1}/${this.bytes}`, await part(this.path, start, end));
  }

  async commit(): Promise<Checkpoint> {
    const body = { bytes: this.bytes, sha256: this.publication.sha256 ?? "" };
    try {
      return await this.client.call("commitCheckpoint", { path: { id: this.session?.id ?? "" }, body });
    } catch (e) {
      // When the answer to an earlier commit was lost, the item tells that it was carried out.
      const item = await this.landed(e);
      if (!item) {
        throw e;
      }
      return item;
    }
  }

  async landed(error: unknown): Promise<Checkpoint | undefined> {
    const over = [Conflict, Gone, UploadTimeout, NotFound].some((kind) => error instanceof kind);
    if (!over && (nothingHappened(error) || !mayPass(error))) {
      return undefined;
    }
    try {
      const item = await this.client.call("readCheckpoint", { path: { id: this.session?.id ?? "" } });
      const isThis = item.revision === this.session?.revision && item.sha256 === this.publication.sha256;
      return isThis && !["pending", "expired"].includes(item.status) ? item : undefined;
    } catch (e) {
      if (e instanceof Gone) {
        return undefined;
      }
      throw e;
    }
  }
}

/** Announces a file, sends its bytes as the service asks for them, and commits it. */
export async function upload(client: Client, path: string, options: UploadOptions): Promise<Checkpoint> {
  const facts = await stat(path);
  const filename = options.filename ?? basename(path);
  const work = new Upload(client, path, options, facts.size, facts.mtimeMs, {
    title: options.title ?? filename,
    description: options.description ?? "",
    filename,
    content_type: options.contentType ?? "application/octet-stream",
    bytes: facts.size,
    visibility: options.visibility ?? "org",
    upload: "resumable",
    sha256: await digestOf(path),
    replace: options.replace ?? true,
  });
  // The tries of the outage there is: a chunk can take longer than the patience, which begins when one breaks off, and
  // bytes that arrived end it.
  let outage: Tries | undefined;
  let restarts = 0;
  let sent: number | undefined;
  let known = 0;
  await work.begin(false);
  for (;;) {
    await work.requireUnchanged();
    try {
      sent ??= await work.put(`bytes */${work.bytes}`, null);
      if (sent > known) {
        outage = undefined;
      }
      known = sent;
      if (sent < work.bytes) {
        sent = await work.send(sent);
        options.progress?.(sent, work.bytes);
        continue;
      }
      const item = await work.commit();
      await work.forget();
      return item;
    } catch (e) {
      if (e instanceof Gone || e instanceof UploadTimeout || e instanceof NotFound) {
        // The session is over: committed, too old, or the item was announced from elsewhere.
        const item = await work.landed(e);
        if (item) {
          await work.forget();
          return item;
        }
        if (++restarts > 1) {
          throw e;
        }
        await work.begin(true);
        sent = undefined;
        continue;
      }
      sent = undefined;
      const reason = e instanceof Conflict ? e.reason : undefined;
      if (!mayPass(e) && reason !== "object-missing") {
        if (e instanceof SecretDetected || reason === "sha-mismatch") {
          await work.forget();
        }
        throw e;
      }
      outage ??= new Tries(client.retry);
      await outage.after(e as BourseError);
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    (facts) => facts.size,
    () => 0,
  );
}

/** Fetches a file; what arrived stays beside its place until all of it is there and right. */
export async function download(
  client: Client,
  id: string,
  path: string,
  options: DownloadOptions,
): Promise<Checkpoint | PublicCheckpoint> {
  const tries = new Tries(client.retry);
  let wrong = 0;
  for (;;) {
    const item: Checkpoint | PublicCheckpoint = options.public
      ? await client.call("readPublicCheckpoint", { path: { id } })
      : await client.call("readCheckpoint", { path: { id } });
    if (item.files !== undefined) {
      throw new TypeError(
        `${id} is a set of ${item.files} files: its content names them, and readCheckpointFile reads each by its digest`,
      );
    }
    // Named by the digest, so that what is there is of this very content, whichever process fetched it.
    const partial = `${path}.${(item.sha256 ?? "none").slice(0, 16)}.part`;
    const had = await sizeOf(partial);
    try {
      await fetchRest(client, item, partial, had, options);
    } catch (e) {
      if (!mayPass(e)) {
        throw e;
      }
      if ((await sizeOf(partial)) > had) {
        tries.advanced();
      }
      await tries.after(e);
      continue;
    }
    if ((await digestOf(partial)) === item.sha256) {
      await rename(partial, path);
      return item;
    }
    await rm(partial);
    if (++wrong > 1) {
      throw new DigestMismatch(`${id}: the bytes do not have the SHA-256 ${item.sha256}`);
    }
  }
}

async function fetchRest(
  client: Client,
  item: Checkpoint | PublicCheckpoint,
  partial: string,
  had: number,
  options: DownloadOptions,
): Promise<void> {
  // An empty file is asked for as well: the answer makes it.
  if (had >= Math.max(1, item.bytes)) {
    return;
  }
  const operation = options.public ? "readPublicCheckpointContent" : "readCheckpointContent";
  const header = had > 0 ? { Range: `bytes=${had}-`, "If-Range": `"${item.sha256}"` } : {};
  const answer = await client.once(operation, { path: { id: item.id }, header });
  const tag = answer.headers.get("ETag")?.replaceAll('"', "");
  if (tag && tag !== item.sha256) {
    await answer.body?.cancel();
    throw new AnswerLost(`${item.id} was replaced while it was read`);
  }
  // 200 to a range: it cannot be gone on with, all of it comes.
  const goesOn = answer.status === 206;
  const file = await open(partial, goesOn ? "a" : "w");
  // Asking the service again makes no room on a disk; and what the system says of a write does not name its file.
  const unwritten = (e: unknown): never => {
    const why = e instanceof Error ? e.message : String(e);
    throw new BourseError(`${partial} could not be written (${why})`, "make room for it; the next download goes on", e);
  };
  try {
    let at = goesOn ? had : 0;
    for await (const block of received(operation, client.url, answer)) {
      // Unlike write, all of the block: the last one before a disk is full is written in part.
      await file.writeFile(block).catch(unwritten);
      at += block.length;
      options.progress?.(at, item.bytes);
    }
  } finally {
    await file.close().catch(unwritten);
  }
}

/** The bytes of an answer as they come; only what breaks off here was lost on the way. */
async function* received(
  operation: string,
  origin: string,
  answer: Response,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* chunks(answer);
  } catch (e) {
    throw lost(operation, origin, e);
  }
}
