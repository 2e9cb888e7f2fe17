/**
 * Bourse, a GPU-capacity exchange in one process. Each package's {@code package-info} states its
 * purpose and the reasons for its design. This tour follows the four flows through their classes.
 *
 * <p><b>A request.</b> One {@link dev.bourse.edge.EdgeVerticle EdgeVerticle} for each event loop
 * accepts connections. {@link dev.bourse.edge.RequestRouter#handle RequestRouter}, built from the
 * contracts, finds the operation. {@link dev.bourse.edge.RequestPipeline#enter RequestPipeline}
 * checks the caller, its scope and budget, the media type, and the body against the schema ({@link
 * dev.bourse.contract.SchemaValidator#check SchemaValidator}), in the order that the contracts
 * state. It then calls the operation that a feature's routes bound by name with {@link
 * dev.bourse.edge.Operations#bind Operations}, for example {@link
 * dev.bourse.capacity.CapacityRoutes CapacityRoutes}. A read of a cluster answers from snapshots in
 * memory ({@link dev.bourse.capacity.Clusters#find Clusters}); most other reads query the store.
 *
 * <p><b>A write to a cluster.</b> {@link dev.bourse.capacity.CapacityService#declareCapacity
 * CapacityService} sends a command to the cluster's owner, one of the {@link
 * dev.bourse.capacity.ClusterVerticle ClusterVerticles}, whose mailbox runs one command at a time
 * ({@link dev.bourse.capacity.ClusterVerticle#submit submit}). {@link
 * dev.bourse.capacity.Capacity#declare Capacity}, which is pure, turns the immutable {@link
 * dev.bourse.capacity.Cluster Cluster} into a {@link dev.bourse.capacity.Transition Transition} or
 * rejects the command. {@link dev.bourse.capacity.CapacityStore#commit CapacityStore} stores the
 * transition's rows and its trail row in one commit, guarded by the revision that the transition
 * was computed from, so that of two processes one wins. {@link
 * dev.bourse.app.ConfirmingDatabase#commit ConfirmingDatabase} checks the caller again before that
 * commit. After it, the owner publishes the new snapshot in {@link dev.bourse.capacity.Clusters
 * Clusters} and the answer is sent.
 *
 * <p><b>A tick.</b> The {@link dev.bourse.market.MarketVerticle MarketVerticle} that holds a pool's
 * {@link dev.bourse.market.Lease Lease} starts a tick. It takes the pool's machines from its {@link
 * dev.bourse.market.Fleet Fleet} as {@code Tick.Nodes}, and {@link
 * dev.bourse.market.TickRunner#decide TickRunner} reads the snapshots of the pool's clusters. Both
 * are of one moment, unless the pool is paused: then the stored price is read between them. {@link
 * dev.bourse.market.Tick#decide Tick} turns clusters and machines into bids, and {@link
 * dev.bourse.auction.Auction#clear Auction} clears them. {@link
 * dev.bourse.market.Settlement#carryOut Settlement} first stores the prices, then sends an order to
 * the owner of each cluster that gains or loses nodes ({@link
 * dev.bourse.capacity.ClusterVerticle#order ClusterVerticle}), which computes it with {@link
 * dev.bourse.capacity.MarketTransitions#settle MarketTransitions} ahead of waiting commands. The
 * fleet sees the new allocations and submits work to the {@link dev.bourse.market.WorkPool#submit
 * WorkPool}: preparing a machine for a grant, or cleaning it after a reclaim.
 *
 * <p><b>A change of another process.</b> On PostgreSQL each group of commits ends with a row of the
 * commit log, which names the changed rows. {@link dev.bourse.store.postgres.CommitLogReader#read
 * CommitLogReader} of every other process reads the rows in the order of each sender and reports
 * them to a {@link dev.bourse.store.ChangeListener#changed ChangeListener}, which is {@link
 * dev.bourse.app.Replication Replication}. A topic's {@link dev.bourse.store.Mirror Mirror} skips a
 * change that it already has ({@link dev.bourse.store.Mirror#holds holds}), applies a row that came
 * with the change ({@link dev.bourse.store.Mirror#apply apply}), and reads other rows again ({@link
 * dev.bourse.store.Mirror#refresh refresh}). The mirror of clusters is {@link
 * dev.bourse.capacity.ClusterOwners#refresh ClusterOwners}: the owner publishes a newer state at
 * once, ahead of waiting commands ({@code ClusterVerticle.showStored}), and a command that was
 * computed from the earlier state is computed again. A gap in the log, or a number that goes back,
 * means that changes were missed or that the database was set back: {@link
 * dev.bourse.store.ChangeListener#missed ChangeListener} then has everything compared.
 *
 * <p>Glossary:
 *
 * <dl>
 *   <dt>access control
 *   <dd>authenticates callers: tokens of organizations and operators, members, sessions, signing
 *       keys
 *   <dt>account
 *   <dd>the stored money of an organization; a ledger account is one side of a transaction
 *   <dt>activity
 *   <dd>the past of an organization's clusters, which its tenants read: declarations, grants,
 *       notices, reclaims
 *   <dt>agent
 *   <dd>the program on a held node that reports the measurements of its GPUs
 *   <dt>alert
 *   <dd>a threshold that a cluster set and that was crossed; reported once per crossing
 *   <dt>allocation
 *   <dd>a node that a cluster holds, from grant to reclaim
 *   <dt>announcement
 *   <dd>the description of a file that a member sends before its bytes; reserves storage and the
 *       name
 *   <dt>any-origin path
 *   <dd>a path whose answers pages of any origin may read (CORS)
 *   <dt>assets
 *   <dd>the scripts, the style sheet and the icon of pages, at one address with a digest
 *   <dt>background job
 *   <dd>recurring work that no request waits for, declared once with its name and period
 *   <dt>balance
 *   <dd>an organization's account together with its usage that is not posted yet, as of a moment
 *   <dt>budget
 *   <dd>requests per minute of a token or a client address; a declaration's is the cost at which it
 *       ends
 *   <dt>change set
 *   <dd>one change of a checkpoint with its consequences, for one commit
 *   <dt>circuit breaker
 *   <dd>stops calls to another service for a while after one has failed
 *   <dt>cluster event
 *   <dd>one kind of event of a cluster; an entry of the activity adds the actor
 *   <dt>commit log
 *   <dd>one row for each group of commits on a shared store; it settles unknown outcomes and lists
 *       the changes that other processes must apply
 *   <dt>confirm token
 *   <dd>the result of a tool's preview, which its confirmation takes once and for the same
 *       arguments
 *   <dt>confirmed time
 *   <dd>a clock's time after it agreed with the monotonic clock for long enough; only it allows
 *       what cannot be undone
 *   <dt>conflict reason
 *   <dd>the <code>reason</code> in a <code>conflict</code> about a checkpoint
 *   <dt>contract
 *   <dd>an OpenAPI document, the authority on the interface that it describes
 *   <dt>error format
 *   <dd>how an operation encodes errors: JSON, an HTML page, or OAuth's fields
 *   <dt>event loop
 *   <dd>a thread of Vert.x that serves some of the connections and must never block
 *   <dt>exchange
 *   <dd>one request and its answer, on the event loop of its connection
 *   <dt>gang
 *   <dd>a cluster with a minimum of GPUs: it holds at least as many, or none
 *   <dt>guard
 *   <dd>the number of rows that a statement must change; otherwise the commit fails with the
 *       guard's refusal
 *   <dt>guide
 *   <dd>a text about one subject, served below {@code /docs/guides} as a page and as Markdown
 *   <dt>holdings scan
 *   <dd>asks the machines of a pool for which allocation each is prepared
 *   <dt>lapse
 *   <dd>the end of a declaration by itself, at its time or when its budget is spent
 *   <dt>limit
 *   <dd>a bulkhead: how much of one kind of work runs and waits, in all and for one owner
 *   <dt>manifest
 *   <dd>the content of a set: its files with path, length and digest
 *   <dt>MCP
 *   <dd>the Model Context Protocol, by which language models call the exchange as tools
 *   <dt>membership
 *   <dd>an organization that a proven e-mail address may enter, as a member or by a join rule
 *   <dt>metadata
 *   <dd>the description of a stored file: title, name, type, length, digest
 *   <dt>mirror
 *   <dd>a part of the store that a process holds in memory and keeps in step
 *   <dt>notice
 *   <dd>the time between the loss of a seat to a higher bid and the reclaim of the node; a billing
 *       hold has one of its own
 *   <dt>occupancy
 *   <dd>the connections and memory that clients use
 *   <dt>operator commands
 *   <dd>changes by operators and by billing to a cluster, carried out by its owner
 *   <dt>owner
 *   <dd>the one verticle that carries out the commands on a cluster, one at a time
 *   <dt>participation
 *   <dd>how the auction treats a cluster: it bids, keeps its nodes, loses all of them, or takes no
 *       part
 *   <dt>preview
 *   <dd>the effect of a declaration or of a pool's next tick, computed without writing
 *   <dt>prober
 *   <dd>tries each machine of a pool once per interval
 *   <dt>publication
 *   <dd>the one commit that makes the bytes of an upload readable
 *   <dt>quote
 *   <dd>the last published prices of a pool; a bid quote is the result of a bid that nobody has
 *       made
 *   <dt>reachability
 *   <dd>which machines answered at the last try, and when
 *   <dt>reassignment
 *   <dd>takes a machine from one allocation to the next, safely against late calls
 *   <dt>recipe
 *   <dd>the steps of a program for one purpose, in {@code /AGENTS.md}
 *   <dt>reference
 *   <dd>the pages below {@code /docs/reference}, made from the contracts
 *   <dt>replace policy
 *   <dd>whether a new file may take the name of another one
 *   <dt>request pipeline
 *   <dd>the checks before an operation runs: caller, scope, budget, media type, body
 *   <dt>retry policy
 *   <dd>how often and after which pauses a transfer is repeated
 *   <dt>schema validator
 *   <dd>a compiled schema of a contract, which accepts a value or names its first violation
 *   <dt>secret key
 *   <dd>the key with which the processes of a store encrypt the secrets that they share in it
 *   <dt>security scheme
 *   <dd>a kind of credential of the contracts: apiToken, memberToken, memberSession, mcpToken,
 *       publishingToken, operatorToken, operatorSession, nodeToken
 *   <dt>publishing credential
 *   <dd>a member's token for a job, which publishes checkpoints and does nothing else
 *   <dt>service context
 *   <dd>the common parts of one service: settings, clock, randomness, metrics
 *   <dt>set
 *   <dd>the files of a folder as one checkpoint, announced by their digests and readable all at
 *       once
 *   <dt>settled cluster
 *   <dd>a retired cluster without nodes, hold, rank or end; it leaves memory and is read when it is
 *       named
 *   <dt>shell
 *   <dd>the one page at every address of the console, whose scripts show what the address names
 *   <dt>shutdown hooks
 *   <dd>stop the parts of a service in the reverse order of their start
 *   <dt>snapshot
 *   <dd>an immutable, published state of a cluster, with the terms in force for it
 *   <dt>tick
 *   <dd>one clearing of a pool's market
 *   <dt>timeline
 *   <dd>the change points from which a cluster's bill follows; of PostgreSQL, the number that a
 *       promotion raises
 *   <dt>token limits
 *   <dd>bounds on the declarations of one token or application
 *   <dt>watermark
 *   <dd>the hour up to which usage is posted to the ledger
 *   <dt>whole store
 *   <dd>all rows of all tables, for the commands that export, import and check them
 *   <dt>work pool
 *   <dd>runs work on machines, bounded, and repeats what failed after growing pauses
 *   <dt>world file
 *   <dd>pools, machines and organizations with which a store is seeded
 * </dl>
 */
@NullMarked
package dev.bourse;

import org.jspecify.annotations.NullMarked;
