/**
 * Bourse, a GPU-capacity exchange: one way in, one way through (see the package of each part).
 *
 * <p>Glossary:
 *
 * <dl>
 *   <dt>access control
 *   <dd>what authenticates callers: organizations' and operators' tokens, members, signing keys
 *   <dt>account
 *   <dd>what is stored of an organization's money; a ledger account is one side of a transaction
 *   <dt>activity
 *   <dd>what a tenant reads of its clusters' past: declarations, and what was done to them
 *   <dt>alert
 *   <dd>what a cluster wanted to be told of and has come, told once
 *   <dt>announcement
 *   <dd>what a member says of a file before its bytes come; reserves storage and a place
 *   <dt>any-origin path
 *   <dd>a path whose answers pages of any origin may read (CORS)
 *   <dt>assets
 *   <dd>the scripts, the style sheet and the icon that pages load, under one address for all
 *   <dt>balance
 *   <dd>an organization's account together with its usage that is not posted yet, as of a moment
 *   <dt>budget
 *   <dd>requests a minute that a token or a client address may make; a declaration's is what it may
 *       cost before it lapses
 *   <dt>change feed
 *   <dd>rows that tell the other processes of a store what a commit changed of what they hold
 *   <dt>change set
 *   <dd>one change of a checkpoint with all that follows from it, for one commit
 *   <dt>circuit breaker
 *   <dd>stops calls to another service for a while after one has failed
 *   <dt>cluster event
 *   <dd>what happened to a cluster, as a type; an entry of activity is one with its actor
 *   <dt>confirm token
 *   <dd>what a tool's preview gives and its confirm takes, once and for the same arguments
 *   <dt>confirmed time
 *   <dd>a clock's time once it has gone on long enough to be believed in what cannot be undone
 *   <dt>conflict reason
 *   <dd>the <code>reason</code> a <code>conflict</code> about a checkpoint carries
 *   <dt>contract
 *   <dd>an OpenAPI document; it is the authority on the interface that it describes
 *   <dt>error format
 *   <dd>how an operation encodes refusals: JSON, an HTML page, or OAuth's fields
 *   <dt>event loop
 *   <dd>a thread of Vert.x that serves some of the connections and must never block
 *   <dt>exchange
 *   <dd>one request and its answer, on the event loop of its connection
 *   <dt>gang
 *   <dd>a cluster that declares the fewest GPUs it can use: it holds as many or none
 *   <dt>guard
 *   <dd>how many rows a statement must change; else the commit fails with the refusal it carries
 *   <dt>guide
 *   <dd>a text about one subject, served at {@code /docs/guides} as a page and as Markdown
 *   <dt>holdings scan
 *   <dd>asking the machines of a pool which allocation each is prepared for
 *   <dt>lapse
 *   <dd>the end of a declaration by itself: its time has come, or its budget is spent
 *   <dt>limit
 *   <dd>a bulkhead: how much of one kind of work runs, waits and is one owner's
 *   <dt>MCP
 *   <dd>the Model Context Protocol, by which language models call the exchange as tools
 *   <dt>manifest
 *   <dd>a set's content: it names the set's files, each with path, length and digest
 *   <dt>membership
 *   <dd>an organization that a proven e-mail address may enter, as a member or by a join rule
 *   <dt>metadata
 *   <dd>what is told of a file besides its bytes: title, name, type, length, digest
 *   <dt>mirror
 *   <dd>what a process holds in memory of the store, kept in step with it
 *   <dt>notice
 *   <dd>how long before a rival takes a node its holder is told; a billing hold has one of its own
 *   <dt>occupancy
 *   <dd>how much of its connections and memory the process has given to clients
 *   <dt>operator commands
 *   <dd>what operators and billing do to a cluster, carried out by its owner
 *   <dt>owner
 *   <dd>the one verticle that carries out commands on a cluster, one at a time
 *   <dt>participation
 *   <dd>what the auction may do for a cluster: bid, keep, lose everything, or nothing
 *   <dt>preview
 *   <dd>what a declaration, or a pool's next tick, would do, computed without doing it
 *   <dt>prober
 *   <dd>tries every machine of a pool once an interval
 *   <dt>publication
 *   <dd>the one commit that makes the bytes of an upload readable
 *   <dt>quote
 *   <dd>what a pool last published; a bid quote is what a bid would win that nobody has made
 *   <dt>reachability
 *   <dd>which machines answered when they were last tried, and when
 *   <dt>reassignment
 *   <dd>taking a machine from one allocation to the next, safely against late calls
 *   <dt>recipe
 *   <dd>what a program does for one purpose, with a command, in {@code /AGENTS.md}
 *   <dt>reference
 *   <dd>the pages at {@code /docs/reference} that are made from the contracts
 *   <dt>replace policy
 *   <dd>whether a new file may take the place of one that is there
 *   <dt>request pipeline
 *   <dd>what a routed request passes before its operation: caller, scope, budget, media type, body
 *   <dt>retry policy
 *   <dd>how often, and after how long a wait, a transfer is tried again
 *   <dt>schema validator
 *   <dd>a schema of a contract, compiled, that accepts a value or names its first violation
 *   <dt>secret key
 *   <dd>what processes of a store are given to encrypt the secrets they share in it
 *   <dt>security scheme
 *   <dd>a kind of credential that contracts name: apiToken, memberToken, memberSession, mcpToken,
 *       operatorToken, operatorSession
 *   <dt>service context
 *   <dd>what every part of one service works with: settings, clock, randomness, metrics
 *   <dt>set
 *   <dd>a folder's files as one checkpoint: announced by their digests, readable all at once
 *   <dt>shell
 *   <dd>the one page at every address of the console, whose scripts show what the address names
 *   <dt>shutdown hooks
 *   <dd>what ends the parts of a service, in the reverse order of their start
 *   <dt>snapshot
 *   <dd>an immutable state of a cluster as published, with the terms in force for it
 *   <dt>tick
 *   <dd>one clearing of a pool's market
 *   <dt>timeline
 *   <dd>the change points that a cluster's bill follows from
 *   <dt>token limits
 *   <dd>how far the declarations of one token or application may go
 *   <dt>watermark
 *   <dd>the hour up to which usage is posted to the ledger
 *   <dt>whole store
 *   <dd>all rows of all tables, as operators' commands export, import and check them
 *   <dt>work pool
 *   <dd>runs work on machines, bounded, and retries what failed after growing waits
 *   <dt>world file
 *   <dd>lists pools, machines and organizations that a store is seeded with
 * </dl>
 */
@NullMarked
package dev.bourse;

import org.jspecify.annotations.NullMarked;
