/**
 * Everything this library throws. Each error says what happened and, in `whatToDo`, what helps. `refusals.ts` has a
 * class for each code with which the service refuses.
 */
export class BourseError extends Error {
  readonly whatToDo: string;

  constructor(message: string, whatToDo: string, cause?: unknown) {
    super(`${message}. What to do: ${whatToDo}`, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.whatToDo = whatToDo;
  }
}

/** No connection came about, so nothing was sent and nothing happened. */
export class ServerUnreachable extends BourseError {
  constructor(message: string, cause?: unknown) {
    super(message, "check the address given to the client, the network, and whether the service is up", cause);
  }
}

/** A request was sent and its whole answer never came. A write may or may not have been carried out. */
export class AnswerLost extends BourseError {
  constructor(message: string, cause?: unknown) {
    super(message, "read what the write would have changed, and write again if it is not there", cause);
  }
}

/** What answered does not speak this service's contracts: a proxy's page, or another server. */
export class UnexpectedAnswer extends BourseError {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message, "check the address given to the client, and what stands between you and the service");
  }
}

/** The service has no such operation; it is older than this library. */
export class OperationMissing extends BourseError {
  constructor(
    readonly operation: string,
    server: string,
  ) {
    super(
      `the service at ${server} has no operation ${operation}`,
      "do without it, use the library that came with the service, or have the service updated",
    );
  }
}

/** The answer to a declaration was lost and others have written since, so it cannot be told what became of it. */
export class DeclarationUnclear extends BourseError {
  constructor(message: string, cause?: unknown) {
    super(message, "read the cluster's activity, decide, and declare again", cause);
  }
}

/** Someone else's declaration stands on the cluster that was to be held. */
export class ClusterInUse extends BourseError {
  constructor(message: string) {
    super(message, "name another cluster, wait until it declares 0 GPUs, or pass takeOver to replace it");
  }
}

/** The nodes were not all active in the time given; what was declared is taken back. */
export class NotGranted extends BourseError {}

/** A hold has ended before it was given back: its declaration lapsed or was replaced. */
export class HoldLost extends BourseError {
  constructor(message: string) {
    super(message, "save your work elsewhere and hold nodes again");
  }
}

/** Nodes could not be given back; they cost until the declaration lapses by itself. */
export class NotGivenBack extends BourseError {
  constructor(message: string, cause?: unknown) {
    super(message, "declare 0 GPUs once the service answers, or let the declaration lapse", cause);
  }
}

/** The bytes that came are not those that were published. */
export class DigestMismatch extends BourseError {
  constructor(message: string) {
    super(message, "download again; if it happens again, tell the service's operators");
  }
}

/** A file was changed while it was sent. */
export class FileChanged extends BourseError {
  constructor(message: string) {
    super(message, "publish it again once nothing writes it any more");
  }
}

/** What a refusal is made of. */
export interface Refusal {
  operation: string;
  status: number;
  body: { error: string; detail?: string; error_description?: string; reason?: string; retry_after_s?: number };
  retryAfter: number | undefined;
  requestId: string | undefined;
}

/**
 * The service refused. `code` is stable, `detail` is for people, `body` is the whole answer. A code that is not among
 * the classes of `refusals.ts` comes from a newer service and is this class itself.
 */
export class ApiError extends BourseError {
  readonly operation: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly reason: string | undefined;
  /** Seconds after which the same request will do, where the service says so. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether the same request will do later, without anything else being done. */
  readonly passes: boolean = false;

  constructor(refusal: Refusal, whatToDo = "see detail; the service's reference at /docs/reference tells this code") {
    const { operation, status, body } = refusal;
    const detail = body.detail ?? body.error_description ?? "";
    const reason = body.reason ? ` (${body.reason})` : "";
    super(`${operation}: ${status} ${body.error}${reason}${detail ? ": " : ""}${detail}`, whatToDo);
    this.operation = operation;
    this.status = status;
    this.code = body.error;
    this.detail = detail;
    this.reason = body.reason;
    this.retryAfter = body.retry_after_s ?? refusal.retryAfter;
    this.requestId = refusal.requestId;
    this.body = body;
  }
}

/** Whether the same may do later: a lost connection, a gateway without its service, a limit that passes. */
export function mayPass(error: unknown): error is BourseError {
  if (error instanceof UnexpectedAnswer) {
    return [502, 503, 504].includes(error.status);
  }
  return (
    error instanceof ServerUnreachable || error instanceof AnswerLost || (error instanceof ApiError && error.passes)
  );
}

/** Whether what was asked for was surely not done: nothing was sent, or it was refused before anything else. */
export function nothingHappened(error: unknown): boolean {
  return (
    error instanceof ServerUnreachable ||
    (error instanceof ApiError && error.passes && [408, 429].includes(error.status))
  );
}
