// The library against the contracts: nothing is missing, and nothing is there that they do not have.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { ApiError, BY_CODE, Client, OPERATIONS } from "../src/index.js";
import { contracts } from "./service.js";

interface Contract {
  paths: Record<string, Record<string, { operationId?: string; "x-errors"?: string; responses: Record<string, Answer> }>>;
  components: { schemas: Record<string, { enum?: string[]; properties?: Record<string, unknown> }> };
}
interface Answer {
  content?: Record<string, { schema?: { $ref?: string } }>;
}

const libraries = JSON.parse(await readFile("libraries.json", "utf8")) as {
  contracts: string[];
  left_out: Record<string, string>;
  repeatable: Record<string, string>;
};

async function contract(name: string): Promise<Contract> {
  return JSON.parse(await readFile(`${contracts()}/${name}.json`, "utf8")) as Contract;
}

test("every contract is covered or left out with a reason", async () => {
  const served = (await readdir(contracts())).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));
  assert.deepEqual(new Set(served), new Set([...libraries.contracts, ...Object.keys(libraries.left_out)]));
});

test("every operation can be called", async () => {
  const expected = new Set<string>();
  const left = new Set<string>();
  for (const name of libraries.contracts) {
    for (const item of Object.values((await contract(name)).paths)) {
      for (const [method, one] of Object.entries(item)) {
        if (one.operationId && method !== "options") {
          (one["x-errors"] === "page" ? left : expected).add(one.operationId);
        }
      }
    }
  }
  assert.deepEqual(new Set(Object.keys(OPERATIONS)), expected);
  assert.deepEqual(left, new Set(["showConsent", "decideConsent", "showDevice", "decideDevice"]));
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
      if (one.operationId && components.schemas[schema]?.properties?.more) {
        paged.push(one.operationId);
      }
    }
  }
  const source = String(Client);
  for (const id of paged) {
    assert.ok(source.includes(`this.call("${id}"`), `no iterator over the pages of ${id}`);
  }
  assert.equal(paged.length, 8);
});
