/**
 * The scrub: a slow check that stored bytes are there, of the right length and with the right
 * digest, so that a lost or changed file is known before somebody needs it.
 *
 * <p>All processes of a store do it together. {@link dev.bourse.scrub.Scrub} takes up one blob
 * after the other by a guarded commit, which advances the common mark and leaves a claim; whoever
 * reads the blob goes on telling so at the claim, and a claim nobody tells of any more is
 * another's. So no blob is left out by a process that dies, and none is counted twice by one that
 * thaws.
 *
 * <p>{@link dev.bourse.scrub.Pace} bounds the reading to a share of all stored bytes a day. The
 * next blob is due once the bytes of the last have had their time, and what a pause left undone is
 * not made up for. So a blob longer than a day's share is read in one go, and the days after it are
 * quiet.
 *
 * <p>Where processes on one database keep blobs in folders of their own, a blob that one of them
 * does not find is left to the others, and is lost once none has it: {@link
 * dev.bourse.scrub.OwnFolder} knows which folders there are and which were looked through. So a
 * process without the file ends no fault that its owner found, and what an operator has checked is
 * checked by whoever has it.
 *
 * <p>Rejected: noting with each blob whose disk it is on, a write at every publication for a set-up
 * that is warned against; dividing the blobs among processes by their number, which changes, or by
 * the hour, which takes their clocks for equal; asking the store for its own digests, which say
 * what it was given and not what it can still give; repairing, for there is nothing to repair from.
 */
@NullMarked
package dev.bourse.scrub;

import org.jspecify.annotations.NullMarked;
