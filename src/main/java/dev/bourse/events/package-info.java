/**
 * Events of clusters: their stored activity, the live stream of events, and the history of
 * declarations, held nodes and prices.
 *
 * <p>{@link dev.bourse.events.EventService} streams events to clients: a change is read back from
 * the stored activity, whose ids let a stream resume on any process, encoded once, and passed to
 * each event loop in one task. {@link dev.bourse.events.ChangeWaits} is a long poll for callers
 * that cannot keep a stream open. {@link dev.bourse.events.ActivityService} reads the past.
 */
@NullMarked
package dev.bourse.events;

import org.jspecify.annotations.NullMarked;
