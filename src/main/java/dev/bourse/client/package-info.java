/**
 * The command line for organizations and their members.
 *
 * <p>Each operation of their contracts names its command in {@code x-command}. Most commands are
 * built from the contract, a noun at a time ({@link dev.bourse.client.MemberCommands}); those with
 * more than one request are handwritten: {@link dev.bourse.client.capacity} for capacity, {@link
 * dev.bourse.client.ssh} to connect to the nodes, {@link dev.bourse.client.checkpoint} for files,
 * which {@link dev.bourse.client.transfer} transfers, {@link dev.bourse.client.trail} for the
 * trail, and {@link dev.bourse.client.account} to sign in.
 *
 * <p>Rejected: a client generated from the contract (it has neither transfers nor previews).
 */
@NullMarked
package dev.bourse.client;

import org.jspecify.annotations.NullMarked;
