// Runs the authorization scenarios of the MCP conformance suite: registers a client for it, and is the member at
// Chromium whom it asks to visit an address. Passes on what the suite says; ends as it does.
//
//   node mcp-authorization.mjs SERVICE OUTBOX NODE SUITE PORT
//
// SERVICE is the service's address, OUTBOX the folder of its mails, NODE a Node 22, SUITE its program, PORT
// a free port for the client.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { once } from "node:events";
import assert from "node:assert/strict";
import { launch } from "./lib/browser.mjs";
import { PATIENCE_MS, signIn } from "./lib/member.mjs";

const [service, outbox, node, suite, port] = process.argv.slice(2);

const registered = await fetch(`${service}/oauth/register`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({
    client_name: "Conformance suite",
    redirect_uris: [`http://127.0.0.1:${port}/callback`],
    token_endpoint_auth_method: "none",
  }),
});
assert.equal(registered.status, 201);
const { client_id: clientId } = await registered.json();

const child = spawn(
  node,
  [suite, "authorization", "--url", service, "--client-id", clientId, "--resource", `${service}/mcp`]
    .concat(["--port", String(port)]),
  { stdio: ["ignore", "pipe", "inherit"] },
);
const ended = once(child, "exit");
const browser = await launch();
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    if (line.startsWith(`${service}/oauth/authorize?`)) {
      await page.goto(line);
      await signIn(page, "bob@acme.example", outbox);
      await page.getByRole("heading", { name: "Allow Conformance suite?" }).waitFor();
      await page.getByRole("button", { name: "Allow", exact: true }).click();
      await page.getByText("You can close this page").waitFor();
    }
  }
  [process.exitCode] = await ended;
} finally {
  child.kill();
  await browser.close();
}
