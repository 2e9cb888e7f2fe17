// The library against the contracts: nothing is missing, and nothing is there that they do not have.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { ApiError, BY_CODE, Client, OPERATIONS } from "../src/index.js";
import { contracts } from "./service.js";

interface Contract {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, { enum?: string[]; properties?: Record<string, unknown> }> };
}
interface Described {
  operationId?: string;
  "x-errors"?: string;
  security?: Record<string, string[]>[];
  responses: Record<string, Answer>;
}
interface Answer {
  content?: Record<string, { schema?: { $ref?: string } }>;
}

const libraries = JSON.parse(await readFile("libraries.json", "utf8")) as {
  contracts: string[];
  left_out: Record<string, string>;
  only_with_token: Record<string, string>;
  repeatable: Record<string, string>;
};

async function contract(name: string): Promise<Contract> {
  return JSON.parse(await readFile(`${contracts()}/${name}.json`, "utf8")) as Contract;
}

test("every contract is covered or left out with a reason", async () => {
  const served = (await readdir(contracts())).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));
  assert.deepEqual(new Set(served), new Set([...libraries.contracts, ...Object.keys(libraries.left_out)]));
  assert.deepEqual(Object.keys(libraries.left_out), ["operator", "node"]);
  assert.deepEqual(Object.keys(libraries.only_with_token), ["console"]);
});

test("every operation can be called but what is for browsers", async () => {
  const expected = new Set<string>();
  const pages = new Set<string>();
  const browsers = new Set<string>();
  for (const name of libraries.contracts) {
    for (const [path, item] of Object.entries((await contract(name)).paths)) {
      for (const [method, one] of Object.entries(item)) {
        if (!one.operationId || method === "options") {
          continue;
        }
        // Counted from the contracts without the generator: what is no page, and of the console what takes a
        // member's token.
        if (one["x-errors"] === "page") {
          if (name !== "console") {
            pages.add(one.operationId);
          }
        } else if (name === "console" && !one.security?.some((scheme) => "memberToken" in scheme)) {
          browsers.add(one.operationId);
        } else {
          expected.add(one.operationId);
          assert.ok(name !== "console" || path.startsWith("/api/console/"), path);
        }
      }
    }
  }
  assert.deepEqual(new Set(Object.keys(OPERATIONS)), expected);
  assert.deepEqual(pages, new Set(["showConsent", "decideConsent", "showDevice", "decideDevice"]));
  assert.deepEqual(browsers, new Set(["readStyle", "readIcon", "readSession", "readInstallFile"]));
  assert.deepEqual(Object.keys(libraries.repeatable).filter((id) => !expected.has(id)), []);
});

test("every error code has a class that says what to do", async () => {
  const codes = (await contract("vm")).components.schemas.ErrorCode?.enum ?? [];
  assert.deepEqual(new Set(Object.keys(BY_CODE)), new Set(codes));
  const refusal = { operation: "o", status: 400, body: { error: "e" }, retryAfter: undefined, requestId: undefined };
  for (const kind of Object.values(BY_CODE)) {
    assert.notEqual(new kind(refusal).whatToDo, new ApiError(refusal).whatToDo);
  }
});

test("every list of pages has an iterator", async () => {
  const paged: string[] = [];
  for (const name of libraries.contracts) {
    const { paths, components } = await contract(name);
    for (const one of Object.values(paths).flatMap((item) => Object.values(item))) {
      const schema = one.responses?.["200"]?.content?.["application/json"]?.schema?.$ref?.split("/").at(-1) ?? "";
      if (one.operationId && one.operationId in OPERATIONS && components.schemas[schema]?.properties?.more) {
        paged.push(one.operationId);
      }
    }
  }
  const source = String(Client);
  for (const id of paged) {
    assert.ok(source.includes(`this.call("${id}"`), `no iterator over the pages of ${id}`);
  }
  assert.equal(paged.length, 14);
});
