import createClient, { type Client as FetchClient } from "openapi-fetch";
import type { components as billing, paths as billingPaths } from "./contracts/billing.js";
import type { components as checkpoints, paths as checkpointPaths } from "./contracts/checkpoints.js";
import type { components as console, paths as consolePaths } from "./contracts/console.js";
import type { components as k8s, paths as k8sPaths } from "./contracts/k8s.js";
import type { paths as marketPaths } from "./contracts/market.js";
import type { paths as mcpPaths } from "./contracts/mcp.js";
import type { paths as oauthPaths } from "./contracts/oauth.js";
import type { components as org, paths as orgPaths } from "./contracts/org.js";
import type { components as vm, paths as vmPaths } from "./contracts/vm.js";
import { type DownloadOptions, download, type UploadOptions, upload } from "./checkpoints.js";
import {
  type BourseError,
  DeclarationUnclear,
  mayPass,
  nothingHappened,
  OperationMissing,
  UnexpectedAnswer,
} from "./errors.js";
import { type Event, follow } from "./events.js";
import { type Held, hold, type HoldOptions } from "./hold.js";
import { lost, RETRY, type Retry, refusal, target, Tries } from "./http.js";
import { type AllOperations, OPERATIONS } from "./operations.js";
import { MethodNotAllowed, NotFound, VersionMismatch } from "./refusals.js";

export type Paths = vmPaths &
  k8sPaths &
  marketPaths &
  billingPaths &
  orgPaths &
  checkpointPaths &
  oauthPaths &
  mcpPaths &
  consolePaths;
export type CapacityState = vm["schemas"]["CapacityState"];
export type Declaration = vm["schemas"]["CapacityDeclaration"];
export type BidState = k8s["schemas"]["BidState"];
export type Bid = k8s["schemas"]["Bid"];
export type Checkpoint = checkpoints["schemas"]["Checkpoint"];
export type PublicCheckpoint = checkpoints["schemas"]["PublicCheckpoint"];
export type AuditEntry = org["schemas"]["AuditEntry"];

/** The operationIds of the contracts. */
export type OperationId = keyof typeof OPERATIONS;
export type Operation = (typeof OPERATIONS)[OperationId];

type Json<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : null;

/** What an operation answers: its JSON, null where there is none, or the Response where it is to be read bit by bit. */
export type AnswerOf<Id extends OperationId> = (typeof OPERATIONS)[Id]["answer"] extends "stream"
  ? Response
  : AllOperations[Id] extends { responses: infer All }
    ? { [Status in keyof All]: Status extends 200 | 201 | 202 | 204 | 308 ? Json<All[Status]> : never }[keyof All]
    : never;

type Sent<Content> = Content extends { "application/json": infer Body }
  ? Body
  : Content extends { "application/x-www-form-urlencoded": infer Form }
    ? Form
    : Uint8Array | string;

type BodyOf<Id extends OperationId> = AllOperations[Id] extends { requestBody: { content: infer Content } }
  ? { body: Sent<Content>; contentType?: string }
  : AllOperations[Id] extends { requestBody?: { content: infer Content } }
    ? { body?: Sent<Content>; contentType?: string }
    : unknown;

/** What an operation takes. */
export type InputOf<Id extends OperationId> = Pick<AllOperations[Id]["parameters"], "path" | "query" | "header"> &
  BodyOf<Id>;

/** As an operation is called where its types do not matter any more. */
export interface Request {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  header?: Record<string, unknown>;
  body?: unknown;
  contentType?: string;
  signal?: AbortSignal;
}

export interface ClientOptions {
  /** The service's address; BOURSE_URL by default. */
  url?: string;
  /** An API token, or a member's access token; BOURSE_TOKEN by default. */
  token?: string;
  /** The cluster that is meant where none is named; a token that is bound to one needs none. */
  cluster?: string;
  retry?: Partial<Retry>;
  /** Seconds to wait for a whole answer. */
  timeout?: number;
}

/** What a declaration sets. What is left out stays as it stands; a number of seconds for `until` counts from now. */
export interface Declared {
  max_gpus?: number;
  max_price?: number;
  min_gpus?: number | null;
  until?: string | Date | number | null;
  max_spend_usd?: number | null;
  auto_swap?: boolean;
  release?: string[];
}

/** How often others may come first before a compare-and-set is given up. */
const CONFLICTS_MOST = 10;

type Fields = Record<string, unknown>;
type Guarded = { version: number; cluster: string };

/**
 * Speaks to one service with one token.
 *
 * `call` has every operation of the contracts by its operationId and answers its JSON; `api` is the same by path, as
 * openapi-fetch has it. Both try again what may be tried again, and throw a class of errors for each code. The other
 * methods add what takes more than one request.
 */
export class Client {
  readonly url: string;
  readonly retry: Retry;
  readonly cluster: string | undefined;
  readonly api: FetchClient<Paths>;
  readonly #token: string | undefined;
  readonly #timeout: number;
  readonly #served = new Map<string, Set<string>>();
  #subject: string | undefined;

  constructor(options: ClientOptions = {}) {
    const address = options.url ?? process.env.BOURSE_URL;
    if (!address) {
      throw new TypeError("no address: pass url to Client or set BOURSE_URL");
    }
    const parts = URL.canParse(address) ? new URL(address) : undefined;
    if (!parts || !/^https?:$/.test(parts.protocol) || parts.pathname !== "/" || parts.search) {
      throw new TypeError(`'${address}' is no address of a service; expected one like https://api.bourse.dev`);
    }
    this.url = parts.origin;
    this.cluster = options.cluster;
    this.retry = { ...RETRY, ...options.retry };
    this.#token = options.token ?? process.env.BOURSE_TOKEN;
    this.#timeout = options.timeout ?? 30;
    this.api = createClient<Paths>({ baseUrl: this.url });
    this.api.use({
      onRequest: ({ request, schemaPath }) => {
        const operation = Object.values(OPERATIONS).find(
          (one) => one.path === schemaPath && one.method === request.method.toLowerCase(),
        );
        if (!operation) {
          throw new TypeError(`${request.method} ${schemaPath} is no operation of the contracts`);
        }
        // A clone for each try: the body of a request can be read once.
        return this.#tried(operation, () => request.clone(), request.signal);
      },
    });
  }

  /** One operation of the contracts: what it takes, and its answer. */
  async call<Id extends OperationId>(
    id: Id,
    ...[input]: Record<string, never> extends InputOf<Id> ? [input?: InputOf<Id>] : [input: InputOf<Id>]
  ): Promise<AnswerOf<Id>> {
    const operation: Operation = OPERATIONS[id];
    const answer = await this.#tried(operation, () => this.#request(operation, (input ?? {}) as Request));
    return (await read(operation, answer)) as AnswerOf<Id>;
  }

  /** One try of an operation, for whoever decides himself whether to try again. */
  async once(id: OperationId, input: Request = {}): Promise<Response> {
    const operation: Operation = OPERATIONS[id];
    return this.#once(operation, this.#request(operation, input), input.signal);
  }

  // Declarations.

  /**
   * Declares what a cluster wants, whoever else writes it, and answers the state that came of it.
   *
   *     await client.declare({ max_gpus: 16, max_price: 2.5 }, "acme-train");
   *     await client.declare((state) => ({ max_gpus: (state.declared?.max_gpus ?? 0) + 8 }));
   *
   * The write names the version that was read. When somebody else has written in between, it is read and decided
   * again. When an answer is lost, it is first looked up what became of the write, so that it is not carried out
   * twice. A declaration that stands already is not written again, except for `max_spend_usd`, which counts from each
   * write anew. Two programs that share a token and declare the same at the same moment cannot be told apart; give
   * each a token of its own where a change adds to what stands.
   */
  async declare(
    change: Declared | ((state: CapacityState) => Declared),
    cluster: string | undefined = this.cluster,
  ): Promise<CapacityState> {
    return this.#compareAndSet<CapacityState>({
      read: () => this.call("readCapacity", query({ cluster })),
      write: (fields) => this.call("declareCapacity", { body: fields as unknown as Declaration }),
      terms: (state) => state.declared,
      action: "vm_capacity_put",
      nominations: (state) => state.nominations,
      body: (state) => {
        const { max_price, until, ...rest } = typeof change === "function" ? change(state) : change;
        const price = max_price ?? state.declared?.max_price_per_gpu_hour;
        if (price === undefined) {
          throw new TypeError("max_price is missing: this is the cluster's first declaration");
        }
        return {
          max_gpus: state.declared?.max_gpus ?? 0,
          ...rest,
          max_price_per_gpu_hour: price,
          ...(until === undefined ? {} : { until: moment(until) }),
        };
      },
    });
  }

  /** Bids for a Kubernetes cluster, as `declare` does for a VM cluster. */
  async bid(
    change: { limit_price?: number; max_gpus?: number; until?: Declared["until"]; max_spend_usd?: number | null },
    cluster: string | undefined = this.cluster,
  ): Promise<BidState> {
    return this.#compareAndSet<BidState>({
      read: () => this.call("readBid", query({ cluster })),
      write: (fields) => this.call("writeBid", { body: fields as unknown as Bid }),
      terms: (state) => state.bid,
      action: "k8s_bid_put",
      nominations: () => [],
      body: (state) => {
        const { limit_price, until, ...rest } = change;
        const price = limit_price ?? state.bid?.limit_price_per_gpu_hour;
        if (price === undefined) {
          throw new TypeError("limit_price is missing: this is the cluster's first bid");
        }
        return { ...rest, limit_price_per_gpu_hour: price, ...(until === undefined ? {} : { until: moment(until) }) };
      },
    });
  }

  /**
   * Holds GPUs while `work` runs, and answers what it answers.
   *
   *     await client.hold({ gpus: 16, maxPrice: 2.5, lease: "30m" }, async (nodes) => {
   *       for (const node of nodes) await run(node.ssh);
   *     });
   *
   * Declares with `until` a lease ahead, waits until the nodes are active, renews the lease, and declares 0 GPUs at the
   * end, whatever the end is. A process that dies renews no more: its nodes go when the lease is over.
   */
  async hold<T>(options: HoldOptions, work: (nodes: Held) => Promise<T>): Promise<T> {
    return hold(this, options, work);
  }

  /**
   * What happens to a cluster, without end and without gaps: after a broken connection or a restart of the service it
   * goes on from the last event. The first event is the capacity state. Ends once `signal` is aborted.
   */
  events(
    options: { cluster?: string; lastEventId?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<Event, void, undefined> {
    const cluster = options.cluster ?? this.cluster;
    return follow(
      (last, signal) =>
        this.once("followEvents", { query: { cluster }, header: { "Last-Event-ID": last }, signal }),
      this.retry,
      options.lastEventId,
      options.signal,
    );
  }

  /**
   * Publishes a file, of any size the service takes, and answers the item once its bytes are durable. Needs a member's
   * token. Broken connections and restarts of the service are gone on from where the service stood; the whole is checked
   * by its SHA-256. With `resumeFile` a later process goes on too.
   */
  async upload(path: string, options: UploadOptions = {}): Promise<Checkpoint> {
    return upload(this, path, options);
  }

  /**
   * Fetches a file of the organization, or of the public feed, to `path` and answers the item. What arrives is kept
   * beside `path` until it is whole and has the right SHA-256; a later call goes on from there.
   */
  async download(id: string, path: string, options: DownloadOptions = {}): Promise<Checkpoint | PublicCheckpoint> {
    return download(this, id, path, options);
  }

  // Lists, page by page.

  /** A cluster's declarations and what the market did about them, newest first. */
  async *activity(
    options: { cluster?: string; who?: "user" | "system" } = {},
  ): AsyncGenerator<vm["schemas"]["ActivityEntry"], void, undefined> {
    const filter = { cluster: this.cluster, ...options };
    for (let page = 0; ; page++) {
      const answer = await this.call("listActivity", query({ ...filter, page }));
      yield* answer.entries;
      if (!answer.more) {
        return;
      }
    }
  }

  /** The same of a Kubernetes cluster; without one, of all that the token reaches. */
  async *k8sActivity(
    options: { cluster?: string; who?: "user" | "system" } = {},
  ): AsyncGenerator<vm["schemas"]["ActivityEntry"], void, undefined> {
    for (let page = 0; ; page++) {
      const answer = await this.call("listK8sActivity", query({ ...options, page }));
      yield* answer.entries;
      if (!answer.more) {
        return;
      }
    }
  }

  /** What the nodes of a cluster reported last about their GPUs, by address. */
  metrics(cluster?: string): AsyncGenerator<vm["schemas"]["NodeMetrics"], void, undefined> {
    const named = cluster ?? this.cluster;
    return pages(
      (after) => this.call("readMetrics", query({ cluster: named, after, limit: 200 })),
      (page) => page.nodes,
      (page) => page.next,
    );
  }

  /** The organization's audit trail, newest first. */
  orgActivity(options: { reads?: boolean } = {}): AsyncGenerator<AuditEntry, void, undefined> {
    return trail((before) => this.call("listOrgActivity", query({ ...reads(options), before })));
  }

  /** The audit trail of a token, this client's own by default, newest first. */
  tokenActivity(
    options: { tokenId?: string; reads?: boolean } = {},
  ): AsyncGenerator<AuditEntry, void, undefined> {
    const path = { token_id: options.tokenId ?? "self" };
    return trail((before) => this.call("listTokenActivity", { path, ...query({ ...reads(options), before }) }));
  }

  /** The organization's files, newest first; `q` searches titles, descriptions and file names. */
  checkpoints(q?: string): AsyncGenerator<Checkpoint, void, undefined> {
    return pages(
      (before) => this.call("listCheckpoints", query({ q, limit: 100, before })),
      (page) => page.checkpoints,
      (page) => page.cursor,
    );
  }

  /** The public feed, newest first. */
  publicCheckpoints(q?: string): AsyncGenerator<PublicCheckpoint, void, undefined> {
    return pages(
      (before) => this.call("listPublicCheckpoints", query({ q, limit: 100, before })),
      (page) => page.checkpoints,
      (page) => page.cursor,
    );
  }

  /** Usage lines, in the order of the contract. */
  usage(
    options: { cluster?: string; from?: string; to?: string } = {},
  ): AsyncGenerator<billing["schemas"]["Line"], void, undefined> {
    return pages(
      (after) => this.call("listUsage", query({ ...options, after, limit: 500 })),
      (page) => page.lines,
      (page) => page.next,
    );
  }

  /** The organization's money, newest first. */
  ledger(): AsyncGenerator<billing["schemas"]["Transaction"], void, undefined> {
    return pages(
      (after) => this.call("listLedger", query({ after, limit: 500 })),
      (page) => page.transactions,
      (page) => page.next,
    );
  }

  /** The organization's Kubernetes clusters. */
  k8sClusters(): AsyncGenerator<k8s["schemas"]["K8sClusterSummary"], void, undefined> {
    return pages(
      (after) => this.call("listK8sClusters", query({ after, limit: 500 })),
      (page) => page.clusters,
      (page) => page.next,
    );
  }

  /** The organization's clusters of both kinds, by name, with what each wants and holds; for a member. */
  clusters(state?: "in-use" | "retired"): AsyncGenerator<console["schemas"]["ListedCluster"], void, undefined> {
    return pages(
      (after) => this.call("listConsoleClusters", query({ state, after, limit: 500 })),
      (page) => page.clusters,
      (page) => page.next,
    );
  }

  /** The organization's members, by username; for a member. */
  members(): AsyncGenerator<console["schemas"]["Colleague"], void, undefined> {
    return pages(
      (after) => this.call("listConsoleMembers", query({ after, limit: 500 })),
      (page) => page.members,
      (page) => page.next,
    );
  }

  /** The organization's API tokens, newest first, live or not; for a member. */
  tokens(): AsyncGenerator<console["schemas"]["ApiToken"], void, undefined> {
    return pages(
      (after) => this.call("listConsoleTokens", query({ after, limit: 500 })),
      (page) => page.tokens,
      (page) => page.next,
    );
  }

  /** What was sent to a webhook endpoint of late, or waits to be, newest first; for a member. */
  webhookDeliveries(endpointId: string): AsyncGenerator<console["schemas"]["WebhookDelivery"], void, undefined> {
    const path = { endpoint_id: endpointId };
    return pages(
      (after) => this.call("listWebhookDeliveries", { path, ...query({ after, limit: 500 }) }),
      (page) => page.deliveries,
      (page) => page.next,
    );
  }

  /** How the service's trails name this client's token. */
  async subject(): Promise<string> {
    this.#subject ??= (await this.call("whoami")).subject;
    return this.#subject;
  }

  async #compareAndSet<State extends Guarded>(on: {
    read: () => Promise<State>;
    write: (fields: Fields) => Promise<State>;
    terms: (state: State) => Fields | null;
    nominations: (state: State) => string[];
    action: string;
    body: (state: State) => Fields;
  }): Promise<State> {
    const tries = new Tries(this.retry);
    let conflicts = 0;
    // What was sent and may have been carried out without our having been told.
    let doubtful: Fields | undefined;
    for (;;) {
      const state = await on.read();
      if (doubtful && state.version > (doubtful.expected_version as number)) {
        if (await this.#wasOurs(state, on.terms(state), doubtful, on.action)) {
          return state;
        }
        doubtful = undefined;
      }
      let fields = doubtful;
      if (!fields) {
        fields = on.body(state);
        const same = new Set(on.nominations(state));
        const release = fields.release as string[] | undefined;
        const nominated = !release || (same.size === new Set(release).size && release.every((one) => same.has(one)));
        if (!fields.max_spend_usd && nominated && stands(on.terms(state), fields)) {
          return state;
        }
        fields = { ...fields, expected_version: state.version, cluster: state.cluster };
      }
      try {
        return await on.write(fields);
      } catch (e) {
        if (e instanceof VersionMismatch) {
          // Whether it was our own write that came first, the next read tells.
          if (++conflicts > CONFLICTS_MOST) {
            throw e;
          }
          if (conflicts > 1) {
            await tries.after(e);
          }
        } else if (mayPass(e)) {
          if (!nothingHappened(e)) {
            doubtful = fields;
          }
          await tries.after(e);
        } else {
          throw e;
        }
      }
    }
  }

  /**
   * Whether the write whose answer was lost has been carried out, now that the version has moved. Only one write can have
   * made the version that follows the one it named. While that is the version in force, the state tells whose it was;
   * later on the audit trail does.
   */
  async #wasOurs(state: Guarded, terms: Fields | null, sent: Fields, action: string): Promise<boolean> {
    const made = (sent.expected_version as number) + 1;
    if (state.version === made) {
      // Others may have written the very same.
      return terms?.updated_by === (await this.subject()) && stands(terms, sent);
    }
    try {
      for await (const entry of this.orgActivity()) {
        if (entry.action === action && entry.subject === sent.cluster) {
          const version = Number(/ version=(\d+)$/.exec(entry.detail)?.[1]);
          if (version === made) {
            return entry.actor === (await this.subject());
          }
          if (version < made) {
            return false;
          }
        }
      }
    } catch (e) {
      throw new DeclarationUnclear(
        `the answer to a declaration of ${state.cluster} at version ${made} was lost, and its trail cannot be read`,
        e,
      );
    }
    return false;
  }

  #request(operation: Operation, input: Request): globalThis.Request {
    const headers = new Headers();
    for (const [name, value] of Object.entries(input.header ?? {})) {
      if (value !== undefined && value !== null) {
        headers.set(name, String(value));
      }
    }
    const given = input.body !== undefined;
    const type = input.contentType ?? operation.body;
    if (given && type) {
      headers.set("Content-Type", type);
    }
    const body =
      operation.body === "application/json"
        ? JSON.stringify(input.body)
        : operation.body === "application/x-www-form-urlencoded"
          ? new URLSearchParams(input.body as Record<string, string>)
          : (input.body as BodyInit);
    return new globalThis.Request(this.url + target(operation.path, input.path, input.query), {
      method: operation.method.toUpperCase(),
      headers,
      ...(given ? { body } : {}),
    });
  }

  async #tried(operation: Operation, request: () => globalThis.Request, signal?: AbortSignal): Promise<Response> {
    const tries = new Tries(this.retry);
    for (;;) {
      try {
        return await this.#once(operation, request(), signal);
      } catch (e) {
        if (!nothingHappened(e) && !(operation.repeatable && mayPass(e))) {
          throw e;
        }
        await tries.after(e as BourseError);
      }
    }
  }

  async #once(operation: Operation, request: globalThis.Request, signal?: AbortSignal): Promise<Response> {
    if (operation.authenticated && this.#token) {
      request.headers.set("Authorization", `Bearer ${this.#token}`);
    }
    const isStream = operation.answer === "stream";
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new Error(`no answer within ${this.#timeout} s`)), this.#timeout * 1000);
    try {
      const answer = await fetch(request, {
        signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
        // 308 means that bytes of an upload are missing; it leads nowhere.
        redirect: isStream ? "follow" : "manual",
      });
      if (!answer.ok && answer.status !== 308) {
        throw await this.#refused(operation, await refusal(operation.id, answer, this.url));
      }
      // Whole here, so that one that breaks off is tried again like one that never came.
      return isStream ? answer : new Response(await answer.text() || null, answer);
    } catch (e) {
      signal?.throwIfAborted();
      throw e instanceof Error && "whatToDo" in e ? e : lost(operation.id, this.url, e);
    } finally {
      clearTimeout(timer);
    }
  }

  async #refused(operation: Operation, error: BourseError): Promise<BourseError> {
    const unknown =
      error instanceof NotFound ||
      error instanceof MethodNotAllowed ||
      (error instanceof UnexpectedAnswer && [404, 405].includes(error.status));
    return unknown && !(await this.#serves(operation)) ? new OperationMissing(operation.id, this.url) : error;
  }

  /** Whether the service's own contract has the operation; a 404 can mean either. */
  async #serves(operation: Operation): Promise<boolean> {
    let served = this.#served.get(operation.contract);
    if (!served) {
      try {
        const answer = await fetch(`${this.url}/api/${operation.contract}/openapi.json`);
        if (!answer.ok && answer.status !== 404) {
          return true;
        }
        const contract = answer.ok ? ((await answer.json()) as { paths: Record<string, Record<string, unknown>> }) : { paths: {} };
        const ids = Object.values(contract.paths).flatMap((item) =>
          Object.values(item).map((one) => (one as { operationId?: string }).operationId ?? ""),
        );
        served = new Set(ids);
        this.#served.set(operation.contract, served);
      } catch {
        // Whatever this is, it tells nothing of the operation.
        return true;
      }
    }
    return served.has(operation.id);
  }
}

async function read(operation: Operation, answer: Response): Promise<unknown> {
  if (operation.answer === "stream") {
    return answer;
  }
  if (operation.answer === "none" || [202, 204, 308].includes(answer.status)) {
    return null;
  }
  try {
    return await answer.json();
  } catch {
    throw new UnexpectedAnswer(`${operation.id}: ${answer.status} came and no JSON`, answer.status);
  }
}

/** A query of what is given. Its types leave no room for undefined, which every caller here may have. */
function query<Q extends Record<string, unknown>>(values: Q): { query: { [Name in keyof Q]: Exclude<Q[Name], undefined> } } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return { query: Object.fromEntries(given) as { [Name in keyof Q]: Exclude<Q[Name], undefined> } };
}

function reads(options: { reads?: boolean }): { reads: "0" | "1"; limit: number } {
  return { reads: options.reads ? "1" : "0", limit: 500 };
}

/** A time as the contracts have it; a number of seconds counts from now. */
export function moment(until: string | Date | number | null): string | null {
  if (typeof until === "number") {
    return new Date(Date.now() + until * 1000).toISOString();
  }
  return until instanceof Date ? until.toISOString() : until;
}

/** Whether what a write sets is what is in force. */
function stands(terms: Fields | null, fields: Fields): boolean {
  if (!terms) {
    return false;
  }
  return Object.entries(fields).every(([name, value]) => {
    if (["expected_version", "cluster", "release"].includes(name) || value === undefined) {
      return true;
    }
    if (name === "until" && typeof value === "string" && typeof terms.until === "string") {
      return Date.parse(value) === Date.parse(terms.until);
    }
    return (terms[name] ?? null) === value;
  });
}

async function* pages<Page extends { more: boolean }, Item>(
  fetchPage: (after: string | undefined) => Promise<Page>,
  items: (page: Page) => Item[],
  next: (page: Page) => string | null,
): AsyncGenerator<Item, void, undefined> {
  let after: string | undefined;
  for (;;) {
    const page = await fetchPage(after);
    yield* items(page);
    after = next(page) ?? undefined;
    if (!page.more || after === undefined) {
      return;
    }
  }
}

async function* trail(
  fetchPage: (before: number | undefined) => Promise<{ entries: AuditEntry[]; more: boolean }>,
): AsyncGenerator<AuditEntry, void, undefined> {
  let before: number | undefined;
  for (;;) {
    const page = await fetchPage(before);
    yield* page.entries;
    before = page.entries.at(-1)?.id;
    if (!page.more || before === undefined) {
      return;
    }
  }
}

