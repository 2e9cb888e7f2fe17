// Every operation of the contracts that the console calls, by its operationId: what it takes and what it answers.
import type { operations as billing } from "contracts/billing";
import type { operations as checkpoints } from "contracts/checkpoints";
import type { operations as console } from "contracts/console";
import type { operations as k8s } from "contracts/k8s";
import type { operations as market } from "contracts/market";
import type { operations as operator } from "contracts/operator";
import type { operations as org } from "contracts/org";
import type { operations as vm } from "contracts/vm";

export type Operations = billing & checkpoints & console & k8s & market & operator & org & vm;

type Json<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : null;

/** The JSON of an operation's good answer; null where it has none. */
export type Answer<Id extends keyof Operations> = Operations[Id] extends { responses: infer All }
  ? { [Status in keyof All]: Status extends 200 | 201 | 202 | 204 ? Json<All[Status]> : never }[keyof All]
  : never;

type Values<From> = From extends { parameters: { query?: infer Query } } ? Query : never;

/** The parameters of an operation's query. */
export type Query<Id extends keyof Operations> = Values<Operations[Id]>;

/** The JSON that an operation takes. */
export type Body<Id extends keyof Operations> = Operations[Id] extends {
  requestBody?: { content: { "application/json": infer Sent } };
}
  ? Sent
  : never;
