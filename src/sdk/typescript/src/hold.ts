import type { CapacityState, Client, Declared } from "./client.js";
import { ApiError, ClusterInUse, HoldLost, NotGivenBack, NotGranted } from "./errors.js";
import { type NodeNotice, watchNotices } from "./notices.js";

export interface HoldOptions {
  gpus: number;
  maxPrice: number;
  /** How long the declaration stands without being renewed: `90s`, `30m`, `8h`, `1d`, or seconds. */
  lease?: string | number;
  cluster?: string;
  /** Wait for all GPUs before any is billed (`min_gpus`); the default. */
  allOrNothing?: boolean;
  /** How long to wait for the nodes. */
  wait?: string | number;
  /** Replace a declaration that stands on the cluster. */
  takeOver?: boolean;
  /** On a node, called when it says that it will be taken back, or will not after all; elsewhere `events` tells. */
  onNotice?: (notice: NodeNotice) => void | Promise<void>;
}

/** A node that is held: where to log in. */
export interface Node {
  publicIp: string;
  sshUser: string;
  sshPort: number;
  /** The command that logs in. */
  ssh: string[];
}

/** A shorter lease could end while one renewal is under way: writes of a cluster keep 5 s distance. */
const LEASE_LEAST = 15;

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400 };

export function seconds(text: string | number): number {
  if (typeof text === "number") {
    return text;
  }
  const found = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text.trim());
  if (!found) {
    throw new TypeError(`'${text}' is no length of time; expected one like 90s, 30m, 8h or 1d`);
  }
  return Number(found[1]) * (UNITS[found[2] ?? ""] ?? 1);
}

/**
 * Nodes that are held. Iterates over those that are active. `refresh` reads them anew: the market may replace one, or
 * take one back. `lost` is why the hold has ended by itself; `signal` is aborted with it.
 */
export class Held implements Iterable<Node> {
  /** The cluster's capacity state, as of the last read. */
  state: CapacityState;
  lost: HoldLost | undefined;
  readonly #read: () => Promise<CapacityState>;
  readonly #ended = new AbortController();

  constructor(state: CapacityState, read: () => Promise<CapacityState>) {
    this.state = state;
    this.#read = read;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  get nodes(): Node[] {
    const { ssh_user, ssh_port } = this.state.environment;
    return this.state.allocations.flatMap((one) =>
      one.state === "active" && one.public_ip
        ? [
            {
              publicIp: one.public_ip,
              sshUser: ssh_user,
              sshPort: ssh_port,
              ssh: ["ssh", ...(ssh_port === 22 ? [] : ["-p", String(ssh_port)]), `${ssh_user}@${one.public_ip}`],
            },
          ]
        : [],
    );
  }

  [Symbol.iterator](): Iterator<Node> {
    return this.nodes[Symbol.iterator]();
  }

  async refresh(): Promise<Node[]> {
    this.state = await this.#read();
    return this.nodes;
  }

  /** Called by the hold itself. */
  end(why: HoldLost): void {
    this.lost = why;
    this.#ended.abort(why);
  }
}

export async function hold<T>(client: Client, options: HoldOptions, work: (nodes: Held) => Promise<T>): Promise<T> {
  const lease = seconds(options.lease ?? "30m");
  const wait = seconds(options.wait ?? "15m");
  if (lease < LEASE_LEAST) {
    throw new TypeError(`a lease of ${lease} s is too short to be renewed in time; expected ${LEASE_LEAST} s or more`);
  }
  if (!Number.isInteger(options.gpus) || options.gpus < 1) {
    throw new TypeError(`gpus is ${options.gpus}; expected a whole number from 1 on`);
  }
  const wanted = options.cluster ?? client.cluster;
  const read = (): Promise<CapacityState> =>
    client.call("readCapacity", wanted === undefined ? { query: {} } : { query: { cluster: wanted } });
  const begun = await read();
  const cluster = begun.cluster;
  // The `until` values that this hold has sent. They are how it knows its own declaration.
  let own: number[] = [];
  const isOurs = ({ declared }: CapacityState): boolean =>
    declared !== null && declared.max_gpus > 0 && declared.until !== null && own.includes(Date.parse(declared.until));

  const declare = async (begins: boolean): Promise<CapacityState> => {
    const until = new Date(Date.now() + lease * 1000);
    own.push(until.getTime());
    const state = await client.declare((standing): Declared => {
      const free = !standing.declared || standing.declared.max_gpus === 0;
      if (begins && !free && !options.takeOver && !isOurs(standing)) {
        throw new ClusterInUse(`cluster ${cluster} declares ${standing.declared?.max_gpus} GPUs already`);
      }
      if (!begins && !isOurs(standing)) {
        throw new HoldLost(`the declaration of cluster ${cluster} is no longer this hold's: ${JSON.stringify(standing.declared)}`);
      }
      return begins
        ? {
            max_gpus: options.gpus,
            max_price: options.maxPrice,
            min_gpus: (options.allOrNothing ?? true) ? options.gpus : null,
            max_spend_usd: null,
            until,
          }
        : { until };
    }, cluster);
    // Renewals that were refused or overtaken can never stand again.
    own = own.slice(-2);
    return state;
  };

  const held = new Held(await declare(true), read);
  let timer: NodeJS.Timeout | undefined;
  let renewal: Promise<void> = Promise.resolve();
  let ended = false;
  const renewLater = (): void => {
    // A third of the lease: two renewals may fail before it ends.
    timer = setTimeout(() => {
      renewal = declare(false)
        .then((state) => {
          held.state = state;
        })
        .catch((e: unknown) => {
          if (e instanceof HoldLost) {
            held.end(e);
          } else if (e instanceof ApiError && [401, 403].includes(e.status)) {
            held.end(new HoldLost(`the lease of cluster ${cluster} cannot be renewed: ${e.message}`));
          }
        })
        .then(() => {
          if (!ended && !held.lost) {
            renewLater();
          }
        });
    }, (lease / 3) * 1000);
  };
  const endWatch = options.onNotice ? watchNotices(options.onNotice) : (): void => undefined;
  const giveBack = async (): Promise<void> => {
    ended = true;
    endWatch();
    clearTimeout(timer);
    await renewal;
    try {
      held.state = await client.declare(
        // What somebody else has declared since is theirs.
        (standing) => (isOurs(standing) ? { max_gpus: 0, min_gpus: null, until: null, max_spend_usd: null } : {}),
        cluster,
      );
    } catch (e) {
      throw new NotGivenBack(
        `the nodes of cluster ${cluster} could not be given back (${String(e)}); the declaration lapses at ` +
          new Date(own.at(-1) ?? 0).toISOString(),
        e,
      );
    }
  };

  let result: T;
  renewLater();
  try {
    await untilActive(held, options.gpus, wait, client);
    result = await work(held);
  } catch (e) {
    // What went wrong first is what the user has to see; that nodes may not have been given back comes with it.
    await giveBack().catch((late: unknown) => {
      if (e instanceof Error && e.cause === undefined) {
        e.cause = late;
      }
    });
    throw e;
  }
  await giveBack();
  return result;
}

async function untilActive(held: Held, gpus: number, wait: number, client: Client): Promise<void> {
  const deadline = client.retry.clock() + wait;
  for (;;) {
    const active = (await held.refresh()).length * held.state.gpus_per_node;
    if (active >= gpus) {
      return;
    }
    held.signal.throwIfAborted();
    if (client.retry.clock() >= deadline) {
      throw new NotGranted(
        `${active} of ${gpus} GPUs of cluster ${held.state.cluster} are active after ${wait} s`,
        whyNot(held.state),
      );
    }
    // The market decides once in some seconds; asking more often shows nothing new.
    await client.retry.sleep(Math.min(2, wait / 10));
  }
}

/** What would help a cluster that waits for nodes. */
function whyNot({ declared, pool, billing_hold }: CapacityState): string {
  if (billing_hold) {
    return `settle the balance: ${billing_hold.reason}`;
  }
  if (declared?.bid_too_low && pool.admission_price_per_gpu_hour !== null) {
    return `offer more: ${pool.admission_price_per_gpu_hour} dollars per GPU-hour would take a node now`;
  }
  if (declared?.capacity_unavailable) {
    return "wait longer or ask for fewer GPUs: the site has none left of this class, at any price";
  }
  return "raise maxPrice, ask for fewer GPUs, or wait longer";
}

