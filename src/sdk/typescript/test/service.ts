// The service itself, from its jar, and the proxy that does faults to requests, each a process.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGr5ynmS8PxYzaoVYPqJTYJ1oKq7JYPYc4sm0Y1s2ek3";

function environment(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set; scripts/smoke sdk sets it`);
  }
  return value;
}

export const contracts = (): string => environment("SDK_CONTRACTS");

export async function poll<T>(what: string, holds: () => Promise<T> | T, seconds = 120): Promise<NonNullable<T>> {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const value = await holds();
    if (value) {
      return value as NonNullable<T>;
    }
    if (Date.now() > deadline) {
      throw new Error(`${what} did not come in time`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** A port that stays free until a service is up, and between two runs of it. */
export async function freePort(): Promise<number> {
  return Number((await promisify(execFile)(environment("SDK_FREE_PORT"), ["127.0.0.1"])).stdout);
}

interface Demo {
  orgs: Record<string, { tokens: Record<string, string>; members: Record<string, { member_token: string }> }>;
}

/** A demo on loopback. `kill` is a crash; `start` goes on with the same data on the same port. */
export class Service {
  #process: ChildProcess | undefined;
  #demo: Demo | undefined;

  private constructor(
    readonly folder: string,
    readonly port: number,
    readonly management: number,
    readonly settings: string[],
  ) {}

  static async started(...settings: string[]): Promise<Service> {
    const folder = await mkdtemp(join(tmpdir(), "bourse-sdk-"));
    const service = new Service(folder, await freePort(), await freePort(), settings);
    await service.start();
    service.#demo = JSON.parse(await readFile(join(folder, "data", "demo.json"), "utf8")) as Demo;
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  token(name = "orgwide"): string {
    return this.#demo?.orgs.acme?.tokens[name] ?? "";
  }

  member(name = "alice"): string {
    return this.#demo?.orgs.acme?.members[name]?.member_token ?? "";
  }

  async start(): Promise<void> {
    const java = process.env.JAVA_HOME ? join(process.env.JAVA_HOME, "bin", "java") : "java";
    const settings = [
      "market.tick=300ms",
      "nodes.simulated.provision-delay=100ms",
      "nodes.simulated.reclaim-delay=100ms",
      "capacity.write-cadence=0",
      "limits.requests-per-minute=0",
      "limits.edge-per-minute=0",
      `management.port=${this.management}`,
      ...this.settings,
    ].flatMap((one) => ["--set", one]);
    const out = await open(join(this.folder, "out"), "w");
    const err = await open(join(this.folder, "err"), "a");
    this.#process = spawn(
      java,
      ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx192m", "-jar", environment("SDK_JAR"), "serve", "--demo",
       "--port", String(this.port), "--data", join(this.folder, "data"), ...settings],
      { stdio: ["ignore", out.fd, err.fd] },
    );
    await Promise.all([out.close(), err.close()]);
    await poll("the service", async () => (await readFile(join(this.folder, "out"), "utf8")).includes("ready"), 300);
  }

  async kill(): Promise<void> {
    const child = this.#process;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((done) => child.once("exit", done));
      child.kill("SIGKILL");
      await gone;
    }
  }

  /** A crash, and a new process after it. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true });
  }
}

/** The proxy of src/sdk/testing/faults.py. */
export class Proxy {
  private constructor(
    readonly url: string,
    readonly process: ChildProcess,
  ) {}

  static async started(upstream: number, port: number): Promise<Proxy> {
    const child = spawn("python3", [environment("SDK_FAULTS"), `127.0.0.1:${upstream}`, String(port)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((done) => child.stdout.once("data", done));
    return new Proxy(`http://127.0.0.1:${port}`, child);
  }

  async order(match: string, fault: Record<string, unknown>): Promise<void> {
    await fetch(`${this.url}/-/faults`, { method: "POST", body: JSON.stringify({ match, ...fault }) });
  }

  async left(): Promise<unknown[]> {
    return (await (await fetch(`${this.url}/-/faults`)).json()) as unknown[];
  }

  /** Lets the requests go on that are held. */
  async release(): Promise<void> {
    await fetch(`${this.url}/-/faults/release`, { method: "POST" });
  }

  /** No faults from now on. */
  async calm(): Promise<void> {
    await fetch(`${this.url}/-/faults`, { method: "DELETE" });
  }

  close(): void {
    this.process.kill();
  }
}

export async function file(folder: string, name: string, bytes: number): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, randomBytes(bytes));
  return path;
}
