/**
 * What members do on the console, as operations that any program of a member's can call.
 *
 * <p>Only routes live here, a class for each noun of the contract; what they call are the features'
 * services, so that a rule holds whoever asks. The actor is always the member, whether they come
 * with a browser's session or with a token of the authorization server. Every change leaves an
 * audit row in its own commit, and is refused there when its member was removed meanwhile.
 *
 * <p>A member mints tokens with no more than their own credential allows: an application that may
 * run the organization, but not spend its money, must not give itself a token that does.
 *
 * <p>Rejected: roles among members (every member administers the organization, as its roster says);
 * operations that take an organization's API token (what those may do is for programs, and none of
 * them acts in a person's name).
 */
@NullMarked
package dev.bourse.console;

import org.jspecify.annotations.NullMarked;
