/**
 * Money: the cost of usage, balances, spend limits and holds.
 *
 * <p>All amounts are whole micro-dollars. {@link dev.bourse.billing.Usage} computes the lines of a
 * bill, one for each cluster and UTC hour, from the change points of the history; it is a pure
 * function, so that anybody can recompute a line. {@link dev.bourse.billing.UsagePosting} posts
 * each hour that is over and settled to the ledger, once per organization. Unposted usage is
 * computed at each read, a few hours and clusters at a time and from relevant ceilings only,
 * because an hour may have a million declarations, and the last posting may be weeks ago. {@link
 * dev.bourse.billing.Reversals} reverses transactions posted while a clock ran ahead. {@link
 * dev.bourse.billing.Ledger} is double-entry: the entries of a transaction sum to zero, which both
 * the code and the commit check.
 *
 * <p>{@link dev.bourse.billing.HealthCredits} computes the credits for failed nodes from stored
 * changes of their health and the same change points, so that they can be recomputed, too, and
 * never exceed the bill. Only time with a fault that no tenant can cause is credited, and only
 * while checks confirm it, because a tenant could otherwise have one fault detected and then block
 * the checks. At most a day of an allocation is credited, because its holder is notified of the
 * fault and can swap. Credits are posted before the hour's usage and reversed with it. Rejected: a
 * lower bill in place of a credit, because nobody would see the amount and the reason.
 *
 * <p>{@link dev.bourse.billing.SpendLimit} computes how much an organization may still commit; the
 * market asks before each tick. {@link dev.bourse.billing.SpendLimits} holds the members' and the
 * operators' limit; the lower one is in force. {@link dev.bourse.billing.HoldState} is the state
 * machine of an organization without money; {@link dev.bourse.billing.HoldService} advances it and
 * puts holds on clusters through their owners. {@link dev.bourse.billing.BudgetUse} computes the
 * spending of declarations with budgets.
 *
 * <p>Rejected: metering at each tick (a crash between two ticks would lose or double a piece, and a
 * missed tick would be free); a balance that is only the sum of its entries (each read would cost
 * more than the last); fractions of micro-dollars carried from line to line (no line could be
 * checked by itself); several rows for the account of revenue (one process posts usage at a time
 * and groups its commits, so that nothing waits for the row); hold checks that visit only
 * organizations whose balance changed (unposted usage changes balances with time alone, and
 * checking the others costs two queries per fifty organizations).
 */
@NullMarked
package dev.bourse.billing;

import org.jspecify.annotations.NullMarked;
