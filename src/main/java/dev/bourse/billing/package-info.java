/**
 * Money: what usage costs, what organizations have, how much they may spend and what happens when
 * they run out.
 *
 * <p>All amounts are whole micro-dollars. {@link dev.bourse.billing.Usage} makes the lines of a
 * bill, one for each cluster and UTC hour, from the change points that the history reads; it is a
 * pure function, so that anybody can recompute a line. {@link dev.bourse.billing.UsagePosting} puts
 * each hour that is over and settled into the ledger, once, for each organization by itself; what
 * is not posted yet is computed anew at each read, some hours and clusters at a time and from those
 * ceilings alone that bear on it: there may be a million declarations of an hour, and weeks since
 * the last posting. What a clock that was ahead has posted is given back by {@link
 * dev.bourse.billing.Reversals}. {@link dev.bourse.billing.Ledger} is double entry: entries of a
 * transaction sum to zero, which the code checks and the commit demands once more.
 *
 * <p>{@link dev.bourse.billing.SpendLimit} says how much an organization may still commit to; the
 * market asks before each tick. {@link dev.bourse.billing.SpendLimits} holds the members' and the
 * operators' limit; the lower one is in force. {@link dev.bourse.billing.HoldState} is the state
 * machine of an organization without money; {@link dev.bourse.billing.HoldService} moves it and
 * puts holds on clusters through their owners. {@link dev.bourse.billing.BudgetUse} computes how
 * much declarations have used of their own budgets.
 *
 * <p>Rejected: metering each tick (a crash between two would lose or double a piece, and a tick
 * that nobody ran would be free), a balance that is only the sum of its entries (each read would
 * cost more than the last), fractions of micro-dollars carried from line to line (no line could be
 * checked by itself), several rows for the one account of revenue (one process posts usage at a
 * time and commits it in groups, so that nobody waits for its row), and rounds of holds that visit
 * only whom money moved (usage moves it by the clock alone: who may run out next is whoever holds
 * nodes, and of the others a page of fifty costs two queries).
 */
@NullMarked
package dev.bourse.billing;

import org.jspecify.annotations.NullMarked;
