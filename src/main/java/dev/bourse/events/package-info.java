/**
 * What has happened to clusters: their activity as stored, the stream of events that tells it as it
 * happens, and the history of what was declared, held and paid.
 *
 * <p>{@link dev.bourse.events.EventService} tells streams of clients what happens: a change is read
 * back from the stored activity, whose ids let a stream go on anywhere, encoded once, and handed to
 * each event loop in one turn. {@link dev.bourse.events.ChangeWaits} lets those wait for the next
 * change who cannot keep a stream. {@link dev.bourse.events.ActivityService} answers reads of the
 * past.
 */
@NullMarked
package dev.bourse.events;

import org.jspecify.annotations.NullMarked;
