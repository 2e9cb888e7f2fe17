// Builds the library: types of the contracts by openapi-typescript, the table of operations and a class for each
// refusal, then tsc.
//
//   node generate.mjs FOLDER_OF_CONTRACTS
//
// What it writes is not committed, for it would only be a second copy of the contracts that can be out of date.
import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const [folder = ""] = process.argv.slice(2);
const METHODS = ["get", "put", "post", "delete", "patch"];
// The schemes by which programs come; the others are cookies of browsers.
const TOKENS = ["apiToken", "memberToken"];

const libraries = JSON.parse(await readFile("libraries.json", "utf8"));
await mkdir("src/contracts", { recursive: true });

const table = [];
for (const name of libraries.contracts) {
  const contract = JSON.parse(await readFile(`${folder}/${name}.json`, "utf8"));
  const securityOf = (operation) => operation.security ?? contract.security ?? [];
  // Pages and the preflights of browsers are for browsers alone; so is, of some contracts, whatever takes no token.
  const servesPrograms = (method, operation) =>
    METHODS.includes(method) &&
    operation["x-errors"] !== "page" &&
    (!(name in libraries.only_with_token) ||
      securityOf(operation).some((one) => TOKENS.some((scheme) => scheme in one)));
  for (const item of Object.values(contract.paths)) {
    for (const method of Object.keys(item)) {
      if (item[method].operationId && !servesPrograms(method, item[method])) {
        delete item[method];
      }
    }
  }
  // What has a default may be left out of a request.
  const types = await openapiTS(contract, { defaultNonNullable: false });
  await writeFile(`src/contracts/${name}.ts`, `// Generated from the contract.\n${astToString(types)}`);
  for (const [path, item] of Object.entries(contract.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      // What else stands there is about all operations of the path.
      if (!METHODS.includes(method)) {
        continue;
      }
      const answers = Object.entries(operation.responses).filter(([status]) => /^2/.test(status) && status !== "206");
      const content = answers.flatMap(([, one]) => Object.keys(one.content ?? {}));
      table.push({
        id: operation.operationId,
        contract: name,
        method,
        path,
        answer: content.length === 0 ? "none" : content.includes("application/json") ? "json" : "stream",
        body: Object.keys(operation.requestBody?.content ?? {})[0] ?? null,
        authenticated: securityOf(operation).length > 0,
        repeatable: method === "get" || operation.operationId in libraries.repeatable,
      });
    }
  }
}

const imports = libraries.contracts.map((name) => `import type { operations as ${name} } from "./contracts/${name}.js";`);
await writeFile(
  "src/operations.ts",
  `// Generated from the contracts: every operation by its operationId.
${imports.join("\n")}

export type AllOperations = ${libraries.contracts.join(" & ")};

export const OPERATIONS = {
${table.map((one) => `  ${one.id}: ${JSON.stringify(one)},`).join("\n")}
} as const;
`,
);

const refusals = Object.entries(libraries.refusals).map(([code, told]) => {
  const name = code.replace(/(^|-)([a-z])/g, (_, __, letter) => letter.toUpperCase());
  return { code, name, told };
});
await writeFile(
  "src/refusals.ts",
  `// Generated: a class for each code of the contracts.
import { ApiError, type Refusal } from "./errors.js";
${refusals
  .map(
    ({ code, name, told }) => `
/** ${told.meaning} */
export class ${name} extends ApiError {
  static readonly code = ${JSON.stringify(code)};
  override readonly passes = ${told.passes ?? false};
  constructor(refusal: Refusal) {
    super(refusal, ${JSON.stringify(told.what_to_do)});
  }
}
`,
  )
  .join("")}
/** The class of each code. */
export const BY_CODE: Record<string, new (refusal: Refusal) => ApiError> = {
${refusals.map(({ code, name }) => `  ${JSON.stringify(code)}: ${name},`).join("\n")}
};
`,
);

try {
  execFileSync("node_modules/.bin/tsc", ["-p", "."], { stdio: ["ignore", "pipe", "inherit"] });
} catch (e) {
  console.error(String(e.stdout));
  process.exitCode = 1;
}
