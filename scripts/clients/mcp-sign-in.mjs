// The official TypeScript SDK's client finds its way from a 401 of the MCP endpoint to an access token, with a
// member at Chromium who allows it; bids; lives on when its token is refused; and is out when the member signs
// out everywhere. Ends non-zero at the first thing that is not as it should be.
//
//   node mcp-sign-in.mjs SERVICE OUTBOX CLUSTER OTHER
//
// SERVICE is the service's address, OUTBOX the folder of its mails, CLUSTER the one to bid for, OTHER the token
// of another member of its organization.
import assert from "node:assert/strict";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { bidOnce, call, declared } from "./lib/bid.mjs";
import { launch } from "./lib/browser.mjs";
import { openCallback } from "./lib/callback.mjs";
import { PATIENCE_MS, listen, signIn } from "./lib/member.mjs";

const [service, outbox, cluster, other] = process.argv.slice(2);
const endpoint = new URL("/mcp", service);
const callback = await openCallback();
const browser = await launch();

/** What an application of the SDK's keeps; `asked` are the addresses it sent its user to. */
const kept = { asked: [] };
const provider = {
  redirectUrl: callback.url,
  clientMetadata: {
    client_name: "SDK client",
    redirect_uris: [callback.url],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "state of the SDK",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => (kept.tokens = tokens),
  redirectToAuthorization: (url) => void kept.asked.push(url.href),
  saveCodeVerifier: (verifier) => (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  invalidateCredentials(scope) {
    if (["all", "tokens"].includes(scope)) {
      delete kept.tokens;
    }
    if (["all", "client"].includes(scope)) {
      delete kept.client;
    }
  },
};

async function connect(options) {
  const client = new Client({ name: "bourse-smoke", version: "1" });
  const transport = new StreamableHTTPClientTransport(endpoint, options);
  await client.connect(transport);
  return { client, transport };
}

/** The parts of the 401 that lead on, each as the client will have read it. */
async function unauthorized() {
  const answer = await fetch(endpoint, { method: "POST", body: "{}" });
  assert.equal(answer.status, 401);
  const metadata = answer.headers.get("www-authenticate").match(/resource_metadata="([^"]+)"/)[1];
  const resource = await (await fetch(metadata)).json();
  assert.equal(resource.resource, endpoint.href);
  assert.deepEqual(resource.authorization_servers, [service]);
}

async function signInWithOAuth(page) {
  const first = new StreamableHTTPClientTransport(endpoint, { authProvider: provider });
  await assert.rejects(new Client({ name: "bourse-smoke", version: "1" }).connect(first), UnauthorizedError);
  const [asked] = kept.asked;
  const parameters = new URL(asked).searchParams;
  assert.equal(parameters.get("resource"), endpoint.href);
  assert.equal(parameters.get("code_challenge_method"), "S256");
  assert.equal(parameters.get("client_id"), kept.client.client_id);
  await page.goto(asked);
  await signIn(page, "alice@acme.example", outbox);
  await page.getByRole("heading", { name: "Allow SDK client?" }).waitFor();
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  const answer = await callback.next();
  assert.equal(answer.state, "state of the SDK");
  assert.equal(answer.iss, service);
  await page.getByRole("heading", { name: "Back at the client" }).waitFor();
  await first.finishAuth(answer.code);
  assert.equal(kept.tokens.token_type, "Bearer");
  assert.ok(kept.tokens.refresh_token);
  console.log("registered, asked, was allowed, and has a token");
}

/** Confirms that must be refused, and after which nothing is written. */
async function refusedConfirms(client) {
  const bid = { kind: "vm", cluster, max_gpus: 24, max_price_per_gpu_hour: 4 };
  const preview = await call(client, "bid_write", { ...bid, phase: "preview" });
  const confirm = { ...bid, phase: "confirm", confirm_token: preview.structuredContent.confirm_token };
  const before = await declared(client, cluster);

  async function refused(who, args, error) {
    const result = await call(who, "bid_write", args);
    assert.equal(result.isError, true);
    assert.equal(result.structuredContent.error, error);
    assert.deepEqual(await declared(client, cluster), before);
  }

  const token = confirm.confirm_token;
  const last = token.at(-2) === "A" ? "B" : "A";
  await refused(client, { ...confirm, max_gpus: 32 }, "conflict");
  await refused(client, { ...confirm, confirm_token: token.slice(0, -2) + last + token.at(-1) }, "conflict");
  const bob = await connect({ requestInit: { headers: { authorization: `Bearer ${other}` } } });
  await refused(bob.client, confirm, "conflict");
  await bob.client.close();

  // Somebody else's bid comes first.
  const change = { ...bid, max_gpus: 8 };
  const second = await call(client, "bid_write", { ...change, phase: "preview" });
  const written = await call(client, "bid_write", {
    ...change,
    phase: "confirm",
    confirm_token: second.structuredContent.confirm_token,
  });
  assert.equal(written.isError, false);
  Object.assign(before, await declared(client, cluster));
  assert.equal(before.max_gpus, 8);
  await refused(client, confirm, "version-mismatch");
  console.log("confirms that are altered, another member's or out of date are refused and write nothing");
}

try {
  await unauthorized();
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const told = listen(page);
  await signInWithOAuth(page);
  const { client, transport } = await connect({ authProvider: provider });
  console.log(`connected to ${client.getServerVersion().name}, revision ${transport.protocolVersion}`);
  await bidOnce(client, { kind: "vm", cluster, max_gpus: 16, max_price_per_gpu_hour: 3.5 });
  await refusedConfirms(client);

  // As after an hour: the token is refused, and the client gets another one without asking anybody.
  const old = kept.tokens;
  kept.tokens = { ...old, access_token: `${old.access_token.slice(0, -4)}AAAA` };
  await client.callTool({ name: "whoami", arguments: {} });
  assert.notEqual(kept.tokens.access_token, old.access_token);
  assert.notEqual(kept.tokens.refresh_token, old.refresh_token);
  assert.equal(kept.asked.length, 1);
  console.log("refreshed its token");

  await page.goto(`${service}/account`);
  await page.getByText("SDK client").first().waitFor();
  await page.getByRole("link", { name: "Sign out everywhere" }).click();
  await page.getByRole("button", { name: "Sign out everywhere" }).click();
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  const refused = await fetch(endpoint, {
    method: "POST",
    headers: { authorization: `Bearer ${kept.tokens.access_token}`, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get("www-authenticate"), /error="invalid_token"/);
  await assert.rejects(client.callTool({ name: "whoami", arguments: {} }), UnauthorizedError);
  assert.equal(kept.tokens, undefined);
  assert.equal(kept.asked.length, 2);
  console.log("signed out everywhere: the next call is 401, and nothing can be refreshed");
  assert.deepEqual(told(), []);
} finally {
  await browser.close();
  callback.close();
}
