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

type Value = string | number | boolean | null | undefined;

type Json<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : null;

/** The JSON of an operation's good answer; null where it has none. */
export type AnswerOf<Id extends string> = Id extends keyof Operations
  ? Operations[Id] extends { responses: infer All }
    ? { [Status in keyof All]: Status extends 200 | 201 | 202 | 204 ? Json<All[Status]> : never }[keyof All]
    : never
  : any;

/** The names that an operation's query takes, with values as addresses have them. */
export type QueryOf<Id extends string> = Id extends keyof Operations
  ? Operations[Id]["parameters"]["query"] extends infer Query
    ? { [Name in keyof NonNullable<Query>]?: Value }
    : never
  : Record<string, Value>;

/** The parts that an operation's path leaves open. */
export type PathOf<Id extends string> = Id extends keyof Operations
  ? Operations[Id]["parameters"]["path"] extends infer Path
    ? { [Name in keyof NonNullable<Path>]: Value }
    : never
  : Record<string, Value>;

/** The JSON that an operation takes; bytes of any kind where it takes a file. */
export type BodyOf<Id extends string> = Id extends keyof Operations
  ? Operations[Id] extends { requestBody?: { content: { "application/json": infer Sent } } }
    ? Sent
    : BodyInit
  : any;
