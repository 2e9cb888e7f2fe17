// Walks through the pages for people in Chromium, as a member does: signs in by the link in a mail, answers an
// application that asks for permission, lets a program in by its code, chooses between organizations, and signs
// out, here and everywhere. Each page fits a phone, and the browser has nothing to complain about.
//
//   node members.mjs SERVICE OUTBOX [SHOTS]
//
// SERVICE is the service's address, OUTBOX the folder of its mails. In the folder SHOTS pictures of all pages
// are left, light and dark, for a phone and a desk.
import { createHash, randomBytes } from "node:crypto";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import { launch } from "./lib/browser.mjs";
import { openCallback } from "./lib/callback.mjs";
import { PATIENCE_MS, linkFor, listen, mails, signIn, until } from "./lib/member.mjs";

const [service, outbox, shots] = process.argv.slice(2);
const ALICE = "alice@acme.example";
const CAROL = "carol@openlab.example";
const DESK = { width: 1280, height: 800 };
// The narrowest screens still about.
const PHONE = { width: 320, height: 640 };

const browser = await launch();

/** A browser of one's own, with no cookies; `quiet` shows that it has had nothing to complain about. */
async function open() {
  const context = await browser.newContext({ viewport: DESK });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const told = listen(page);
  return {
    page,
    quiet: (status = undefined) => {
      // The browser tells of a page that comes with a fault's status, such as a form that is shown again.
      const rest = told().filter((one) => !(status && one.includes(`status of ${status} `)));
      assert.deepEqual(rest, [], `at ${page.url()}`);
    },
    close: () => context.close(),
  };
}

/** What holds for every page: it has one heading, fits a phone, and its controls are named and large enough. */
async function look(page, name) {
  assert.equal(await page.locator("h1").count(), 1, `${name}: not one heading`);
  assert.equal(await page.locator("html").getAttribute("lang"), "en", name);
  await page.setViewportSize(PHONE);
  const small = await page.evaluate(() => ({
    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    unnamed: [...document.querySelectorAll("input:not([type=hidden]), button, a")]
      .filter((one) => !(one.labels?.length || one.textContent.trim() || one.ariaLabel))
      .map((one) => one.outerHTML),
    low: [...document.querySelectorAll("input:not([type=hidden]), button, .button")]
      .filter((one) => one.getBoundingClientRect().height < 44)
      .map((one) => one.outerHTML),
  }));
  assert.deepEqual(small, { over: 0, unnamed: [], low: [] }, `${name} on a phone`);
  for (const [device, size] of Object.entries({ phone: PHONE, desk: DESK })) {
    await page.setViewportSize(size);
    for (const colorScheme of shots ? ["light", "dark"] : []) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(shots, `${name}-${device}-${colorScheme}.png`), fullPage: true });
    }
  }
}

const heading = (page, name) => page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
const press = (page, name) => page.getByRole("button", { name, exact: true }).click();

async function post(path, parameters) {
  const response = await fetch(service + path, { method: "POST", body: new URLSearchParams(parameters) });
  return { status: response.status, body: await response.json() };
}

async function register(redirectUri) {
  const response = await fetch(`${service}/oauth/register`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      client_name: "Walk client",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    }),
  });
  assert.equal(response.status, 201);
  return (await response.json()).client_id;
}

/** An application's question, and the verifier to redeem its answer with. */
function question(clientId, redirectUri) {
  const verifier = randomBytes(32).toString("base64url");
  const url = new URL("/oauth/authorize", service);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: "capacity:read capacity:write",
    state: "state of the walk",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  return { url: url.href, verifier };
}

async function signInByLink() {
  const { page, quiet, close } = await open();
  await page.goto(`${service}/account`);
  await heading(page, "Sign in");
  await look(page, "sign-in");
  await page.getByLabel("E-mail address").fill(`${"a".repeat(65)}@acme.example`);
  await press(page, "Mail me a link");
  await page.getByRole("alert").waitFor();
  await look(page, "sign-in-fault");
  quiet(422);
  const known = mails(outbox);
  await page.getByLabel("E-mail address").fill(ALICE);
  await press(page, "Mail me a link");
  await heading(page, "Check your mail");
  await page.getByText(ALICE).waitFor();
  await page.getByRole("button", { name: "Mail another link" }).waitFor();
  await look(page, "sign-in-sent");
  const link = await linkFor(outbox, ALICE, known);
  await page.goto(link);
  await heading(page, "Sign in to Bourse");
  await look(page, "sign-in-link");
  await press(page, "Sign in");
  await heading(page, "You are signed in");
  assert.equal(page.url(), `${service}/account`);
  await page.getByText("Alice Archer").waitFor();
  await look(page, "account");
  quiet();
  await page.goto(link);
  await heading(page, "This link does not work any more");
  await look(page, "sign-in-link-used");
  quiet(410);
  await page.goto(`${service}/account`);
  await press(page, "Sign out");
  await heading(page, "You are signed out");
  await look(page, "signed-out");
  await page.goto(`${service}/account`);
  await heading(page, "Sign in");
  quiet();
  await close();
  console.log("signed in by a link, which works once; signed out");
}

/** An application that listens at `host`, and leads on with `answer` from there. */
async function consent(host, answer = undefined) {
  const callback = await openCallback(host, answer);
  const { page, quiet, close } = await open();
  const clientId = await register(callback.url);
  const { url, verifier } = question(clientId, callback.url);
  await page.goto(url);
  await heading(page, "Sign in");
  await signIn(page, ALICE, outbox);
  await heading(page, "Allow Walk client?");
  await look(page, "consent");
  await press(page, "Do not allow");
  const refused = await callback.next();
  assert.equal(refused.error, "access_denied");
  assert.equal(refused.state, "state of the walk");
  assert.equal(refused.iss, service);
  await heading(page, "Back at the client");
  await page.goto(url);
  await heading(page, "Allow Walk client?");
  await press(page, "Allow");
  const allowed = await callback.next();
  assert.equal(allowed.state, "state of the walk");
  assert.equal(allowed.iss, service);
  await heading(page, "Back at the client");
  const token = await post("/oauth/token", {
    grant_type: "authorization_code",
    client_id: clientId,
    code: allowed.code,
    redirect_uri: callback.url,
    code_verifier: verifier,
  });
  assert.equal(token.status, 200, JSON.stringify(token.body));
  assert.equal(token.body.scope, "capacity:read capacity:write");
  await page.goto(`${service}/account`);
  await page.getByText("Walk client").waitFor();
  await look(page, "account-connected");
  await press(page, "Disconnect Walk client");
  await page.getByText("None. An application").waitFor();
  const refresh = await post("/oauth/token", {
    grant_type: "refresh_token",
    client_id: clientId,
    refresh_token: token.body.refresh_token,
  });
  assert.equal(refresh.body.error, "invalid_grant");
  quiet();
  await close();
  callback.close();
  console.log(`an application at ${host} was refused, allowed, and disconnected`);
}

/**
 * An application that the browser reaches by a scheme of its own. Nothing is installed here that would open it, so
 * what is shown is that the browser sets out for the address by itself and does not refuse to ("a user gesture is
 * required" it would say), and that a button leads to the same address, for browsers that do.
 */
async function ownScheme(redirectUri) {
  const { page, quiet, close } = await open();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Page.enable");
  const towards = [];
  devtools.on("Page.frameRequestedNavigation", ({ url, reason }) => towards.push({ url, reason }));
  const clientId = await register(redirectUri);
  const { url, verifier } = question(clientId, redirectUri);
  await page.goto(url);
  await signIn(page, ALICE, outbox);
  await heading(page, "Allow Walk client?");
  await page.getByText(`opens ${redirectUri.split(":")[0]}: links`).waitFor();
  await press(page, "Allow");
  await heading(page, "Back to the application");
  const { url: called } = await until(`the browser to set out for ${redirectUri}`, () =>
    towards.find((one) => one.reason === "httpHeaderRefresh" && one.url.startsWith(`${redirectUri}?`)),
  );
  await look(page, "back-to-application");
  // Pressing it is for people: the browser now asks whether to open the program, and that takes all clicks.
  const button = page.getByRole("link", { name: "Continue", exact: true });
  assert.equal(await button.getAttribute("href"), called);
  const parameters = new URL(called).searchParams;
  assert.equal(parameters.get("state"), "state of the walk");
  assert.equal(parameters.get("iss"), service);
  const token = await post("/oauth/token", {
    grant_type: "authorization_code",
    client_id: clientId,
    code: parameters.get("code"),
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  assert.equal(token.status, 200, JSON.stringify(token.body));
  quiet();
  await close();
  console.log(`an application at ${redirectUri} was called`);
}

/** Goes to a control by the Tab key alone, and shows that it can be seen to have the focus. */
async function tabTo(page, name) {
  for (let i = 0; i < 20; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const one = document.activeElement;
      return {
        name: (one.labels?.[0]?.textContent ?? one.ariaLabel ?? one.textContent).trim(),
        outline: getComputedStyle(one).outlineStyle,
      };
    });
    if (at.name === name) {
      assert.notEqual(at.outline, "none", `${name}: one does not see that it has the focus`);
      return;
    }
  }
  assert.fail(`the Tab key does not lead to ${name}`);
}

/** Signs in and answers for a device without a mouse; a wrong code is told. */
async function device() {
  const asked = await post("/oauth/device_authorization", { client_id: "bourse-cli", scope: "capacity:read" });
  assert.equal(asked.status, 200);
  const { page, quiet, close } = await open();
  await page.goto(asked.body.verification_uri);
  await heading(page, "Sign in");
  const known = mails(outbox);
  await tabTo(page, "E-mail address");
  await page.keyboard.type(ALICE);
  await page.keyboard.press("Enter");
  await heading(page, "Check your mail");
  await page.goto(await linkFor(outbox, ALICE, known));
  await tabTo(page, "Sign in");
  await page.keyboard.press("Enter");
  await heading(page, "Connect a program");
  assert.equal(page.url(), `${service}/device`);
  await look(page, "device");
  quiet();
  await tabTo(page, "Code");
  await page.keyboard.type("BCDF-GHJK");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await look(page, "device-fault");
  quiet(422);
  await tabTo(page, "Code");
  await page.keyboard.press("Control+a");
  // People write small letters and leave dashes out.
  await page.keyboard.type(asked.body.user_code.replace("-", "").toLowerCase());
  await page.keyboard.press("Enter");
  await heading(page, "Allow Bourse command line?");
  await look(page, "device-confirm");
  await tabTo(page, "Allow");
  await page.keyboard.press("Space");
  await heading(page, "The program is connected");
  await look(page, "device-done");
  quiet();
  const poll = () =>
    post("/oauth/token", {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      client_id: "bourse-cli",
      device_code: asked.body.device_code,
    });
  const token = await poll();
  assert.equal(token.status, 200, JSON.stringify(token.body));

  const second = await post("/oauth/device_authorization", { client_id: "bourse-cli" });
  await page.goto(second.body.verification_uri_complete);
  assert.equal(await page.getByLabel("Code").inputValue(), second.body.user_code);
  await tabTo(page, "Continue");
  await page.keyboard.press("Enter");
  await heading(page, "Allow Bourse command line?");
  await tabTo(page, "Do not allow");
  await page.keyboard.press("Enter");
  await heading(page, "The program is not connected");
  const refused = await post("/oauth/token", {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    client_id: "bourse-cli",
    device_code: second.body.device_code,
  });
  assert.equal(refused.body.error, "access_denied");
  quiet();
  await close();
  console.log("a program was let in by its code, and another was not, by keyboard alone");
}

/** Carol, whom two organizations admit. */
async function choice() {
  const { page, quiet, close } = await open();
  await page.goto(`${service}/sign-in`);
  await signIn(page, CAROL, outbox);
  await heading(page, "Choose an organization");
  await look(page, "sign-in-choose");
  await press(page, "Continue to Open Lab");
  await heading(page, "You are signed in");
  await page.getByText("Open Lab").waitFor();
  quiet();
  await close();
  console.log("chose one of two organizations");
}

async function everywhere() {
  const one = await open();
  const other = await open();
  for (const { page } of [one, other]) {
    await page.goto(`${service}/sign-in`);
    await signIn(page, ALICE, outbox);
    await heading(page, "You are signed in");
  }
  await one.page.getByRole("link", { name: "Sign out everywhere" }).click();
  await heading(one.page, "Sign out everywhere?");
  await press(one.page, "Sign out everywhere");
  await heading(one.page, "You are signed out");
  await other.page.reload();
  await heading(other.page, "Sign in");
  for (const each of [one, other]) {
    each.quiet();
    await each.close();
  }
  console.log("signed out everywhere: the other browser was, too");
}

const elsewhere = await openCallback("localhost");
try {
  await signInByLink();
  await consent("127.0.0.1", (response) => {
    // To another origin, as those of applications that run on a desk and in the web do.
    response.writeHead(302, { Location: elsewhere.url }).end();
  });
  // A machine may have no IPv6.
  if (Object.values(networkInterfaces()).flat().some((one) => one.address === "::1")) {
    await consent("[::1]");
  } else {
    console.log("SKIPPED an application at [::1]: this machine has no such address");
  }
  await ownScheme("cursor://anysphere.cursor-retrieval/oauth/user-bourse/callback");
  await ownScheme("com.example.app:/cb");
  await device();
  await choice();
  await everywhere();
} finally {
  await browser.close();
  elsewhere.close();
}
