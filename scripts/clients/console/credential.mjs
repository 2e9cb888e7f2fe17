// Mints a publishing credential in the console, publishes a folder with it as a job does, and looks at the folder's
// page: its README is text and links only, whatever its author wrote. Then the credential is revoked.
//
//   node credential.mjs SITE
import { createHash } from "node:crypto";
import assert from "node:assert/strict";
import { launch } from "../lib/browser.mjs";
import { signIn } from "../lib/member.mjs";
import { readSite } from "./lib/site.mjs";
import { during, visit } from "./lib/visit.mjs";

const README = `# Llama

Trained on *sand*, see [the site](https://acme.example/llama).

<script>window.attacked = 1</script>
<img src=x onerror="window.attacked = 1">

[click](javascript:window.attacked=1) [data](data:text/html,x) ![pixel](https://tracker.example/p.png)

| a | b |
|---|---|
| 1 | 2 |
`;

const [file] = process.argv.slice(2);
const site = readSite(file);

const browser = await launch();
await during(browser, async () => {
  const { page, quiet, close } = await visit(browser, site.service);
  await page.goto(`${site.service}/sign-in?return_to=/console/account`);
  await signIn(page, "alice@acme.example", site.outbox);
  await page.waitForURL(/\/console\/account/);

  await page.getByRole("button", { name: "Mint a credential" }).click();
  await page.getByLabel("Name").fill("walked job");
  await page.getByLabel("Limit (GiB)").fill("1");
  const lastDay = new Date(Date.now() + 30 * 86_400_000 - 120_000);
  const local = new Date(lastDay.getTime() - lastDay.getTimezoneOffset() * 60_000);
  await page.getByLabel("Expires after").fill(local.toISOString().slice(0, 10));
  await page.getByRole("button", { name: "Mint", exact: true }).click();
  const token = await page.locator("#minted-token").innerText();
  assert((await page.locator("#minted-script").innerText()).includes(`BOURSE_TOKEN=${token}`), "the script has the token");
  await page.getByRole("button", { name: "I have kept it" }).click();
  await page.getByText("walked job").first().waitFor();

  const id = await publish(token, { "README.md": README, "weights.bin": "weights" });
  await page.goto(`${site.service}/console/checkpoints/${id}`);
  const readme = page.locator("#readme");
  await readme.getByRole("heading", { name: "Llama" }).waitFor();
  assert((await readme.innerText()).includes("<script>window.attacked = 1</script>"), "HTML is text");
  assert.equal(await readme.locator("script, img, iframe, [onerror], [style]").count(), 0);
  const links = readme.getByRole("link");
  assert.equal(await links.count(), 1, "only the link to the web is one");
  assert.equal(await links.getAttribute("href"), "https://acme.example/llama");
  for (const word of ["noopener", "nofollow", "ugc"]) {
    assert((await links.getAttribute("rel")).split(" ").includes(word), word);
  }
  assert.equal(await readme.getByRole("cell").count(), 2);
  assert.equal(await page.evaluate(() => window.attacked), undefined);
  await page.getByText(`bourse checkpoint pull ${id}`).waitFor();
  await page.getByRole("link", { name: "weights.bin" }).waitFor();
  console.log("a hostile README is text");

  await page.goto(`${site.service}/console/account`);
  await page.getByRole("button", { name: "Revoke walked job" }).click();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByRole("button", { name: "Revoke walked job" }).waitFor({ state: "detached" });
  const refused = await send(token, "POST", "/api/checkpoints/sets", announcement({ a: "b" }));
  assert.equal(refused.status, 401, await refused.text());
  console.log("a revoked credential publishes nothing");
  quiet();
  await close();
});

function announcement(files) {
  return {
    title: "Walked",
    filename: "walked",
    visibility: "org",
    files: Object.entries(files).map(([path, text]) => ({
      path,
      bytes: Buffer.byteLength(text),
      sha256: createHash("sha256").update(text).digest("hex"),
    })),
  };
}

/** Publishes a folder as a job does; the id of its item. */
async function publish(token, files) {
  const announced = await answer(await send(token, "POST", "/api/checkpoints/sets", announcement(files)));
  const texts = Object.values(files);
  const session = new URL(announced.session_url).pathname;
  for (const number of announced.missing) {
    const sent = await fetch(`${site.service}${session}/${number}`, { method: "PUT", body: texts[number] });
    assert(sent.ok, `${sent.status} ${await sent.text()}`);
  }
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  await answer(await send(token, "POST", `/api/checkpoints/${announced.id}/commit`, { bytes }));
  return announced.id;
}

function send(token, method, path, body) {
  return fetch(site.service + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function answer(response) {
  const text = await response.text();
  assert(response.ok, `${response.status} ${text}`);
  return JSON.parse(text);
}
