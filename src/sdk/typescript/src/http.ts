import { AnswerLost, ApiError, type BourseError, type Refusal, ServerUnreachable, UnexpectedAnswer } from "./errors.js";
import { BY_CODE } from "./refusals.js";

/**
 * How long requests are tried again. Each wait is twice the one before, from `first` to `longest` seconds, of which
 * half is left to chance so that many clients do not come back together. Where the service says `Retry-After`, that
 * is the least. When the next wait would end after `patience` seconds in all, the last error is thrown instead;
 * a patience of 0 tries once.
 */
export interface Retry {
  patience: number;
  first: number;
  longest: number;
  clock: () => number;
  sleep: (seconds: number) => Promise<unknown>;
  chance: () => number;
}

export const RETRY: Retry = {
  patience: 120,
  first: 0.25,
  longest: 20,
  clock: () => performance.now() / 1000,
  sleep: (seconds) => new Promise((done) => setTimeout(done, seconds * 1000)),
  chance: Math.random,
};

/** The tries of one piece of work. */
export class Tries {
  readonly #retry: Retry;
  #until = 0;
  #wait = 0;

  constructor(retry: Retry) {
    this.#retry = retry;
    this.advanced();
  }

  /** Waits until it makes sense to try again, or throws the error when there is no time left for that. */
  async after(error: BourseError): Promise<void> {
    const told = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
    const pause = told + this.#wait * (0.5 + 0.5 * this.#retry.chance());
    if (this.#retry.clock() + pause > this.#until) {
      throw error;
    }
    this.#wait = Math.min(this.#retry.longest, this.#wait * 2);
    await this.#retry.sleep(pause);
  }

  /** Something was achieved: whoever sends a long file bit by bit has his patience anew. */
  advanced(): void {
    this.#until = this.#retry.clock() + this.#retry.patience;
    this.#wait = this.#retry.first;
  }
}

/** Failures before anything of a request was sent. */
const BEFORE_SENDING = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** What went wrong below HTTP, as an error of this library. */
export function lost(operation: string, origin: string, error: unknown): BourseError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  // Several addresses of one name fail together.
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  const code = String((first as { code?: unknown } | undefined)?.code ?? "");
  // fetch does not connect to some ports, which it says without a code.
  const isBarred = first instanceof Error && first.message === "bad port";
  if (BEFORE_SENDING.includes(code) || /CERT|SELF_SIGNED|ALTNAME/.test(code) || isBarred) {
    return new ServerUnreachable(`${operation}: cannot reach ${origin} (${code || String(first)})`, error);
  }
  return new AnswerLost(`${operation}: no whole answer from ${origin} (${code || String(first)})`, error);
}

/** The error that an answer stands for. */
export async function refusal(operation: string, answer: Response, origin: string): Promise<BourseError> {
  let body: unknown;
  let text: string;
  try {
    text = await answer.text();
  } catch (e) {
    return lost(operation, origin, e);
  }
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  if (typeof body !== "object" || body === null || typeof (body as Refusal["body"]).error !== "string") {
    return new UnexpectedAnswer(
      `${operation}: ${origin} answered ${answer.status} and nothing that this service would say`,
      answer.status,
    );
  }
  const after = answer.headers.get("Retry-After") ?? "";
  const told: Refusal = {
    operation,
    status: answer.status,
    body: body as Refusal["body"],
    retryAfter: /^\d+$/.test(after) ? Number(after) : undefined,
    requestId: answer.headers.get("X-Request-Id") ?? undefined,
  };
  const kind = BY_CODE[told.body.error];
  return kind ? new kind(told) : new ApiError(told);
}

/** A path with its parameters in their places, and a query of what is given. */
export function target(template: string, path: Record<string, unknown> = {}, query: Record<string, unknown> = {}): string {
  const filled = template.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${filled}?${text}` : filled;
}

/** The bytes of an answer as they come; whoever stops reading gives the connection up. */
export async function* chunks(answer: Response): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = answer.body?.getReader();
  if (!reader) {
    return;
  }
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
