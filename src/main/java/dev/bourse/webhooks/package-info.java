/**
 * Webhooks: an organization names addresses, and what happens to it is sent there, signed as the
 * Standard Webhooks specification has it.
 *
 * <p>The outbox is what is stored anyway. The activity of clusters and the trails of organizations
 * are written in the commits of what they tell, and numbered; {@link dev.bourse.webhooks.Courier}
 * reads on from a cursor for each of them, and makes deliveries of what it finds in the commit that
 * moves the cursor. So nothing is lost by a crash, and clusters of organizations without endpoints
 * cost nothing. That a node is silent is in the trail, though it is about a cluster: the market's
 * process notes it, and only a cluster's owner writes its activity. Entries of one cluster are
 * committed in the order of their ids; of a trail only what is settled is read, so that no row that
 * appears late is passed over. That a month's statement is final follows from how far usage is
 * posted, which {@link dev.bourse.billing.FinalMonths} tells; there the cursor is a month, and one
 * that is final a second time, after a clock was set back, is not told again.
 *
 * <p>What waits for an endpoint from one cluster, or from the organization, is a queue: its first
 * is tried until it is delivered or given up, with the same id each time, and only then the next.
 * Which queue has its turn, and when it is tried again, is decided in {@code delivery}. A delivery
 * that fails for as long as is set, an answer 410, or too much that waits switch the endpoint off,
 * and members are told by mail.
 *
 * <p>Of the processes of a store one delivers, by a lease; another goes on where it stopped, and
 * what was under way then is perhaps sent twice, with the same id.
 *
 * <p>What members ask for, a test or sending one again, is sent at once by the process that they
 * ask, and answered with what came of it; it waits in no queue and is tried once.
 *
 * <p>Addresses pass the guard of {@code outbound} at each attempt. The secrets are encrypted rows
 * of {@code keyring}, so without a secret key there are no webhooks.
 *
 * <p>Rejected: writing deliveries in the causing commits (each would have to know of endpoints), a
 * queue for each endpoint alone (one cluster's event that a receiver chokes on would hold up all
 * others), and a lease for each organization (as many commits a minute as there are).
 */
@NullMarked
package dev.bourse.webhooks;

import org.jspecify.annotations.NullMarked;
