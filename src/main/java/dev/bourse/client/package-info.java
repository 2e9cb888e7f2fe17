/**
 * What organizations and their members do from a command line.
 *
 * <p>Each operation of their contracts says in {@code x-command} which command calls it. Most of
 * these are built from the contract, a noun at a time ({@link dev.bourse.client.MemberCommands});
 * those that are more than one request are written by hand: {@link dev.bourse.client.capacity} for
 * what people do with capacity, {@link dev.bourse.client.ssh} to reach the nodes, {@link
 * dev.bourse.client.checkpoint} for files, which {@link dev.bourse.client.transfer} moves, {@link
 * dev.bourse.client.trail} for the trail, and {@link dev.bourse.client.account} to sign in.
 *
 * <p>Rejected: a client generated from the contract (it has neither transfers nor previews).
 */
@NullMarked
package dev.bourse.client;

import org.jspecify.annotations.NullMarked;
