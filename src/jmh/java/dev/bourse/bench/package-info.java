/**
 * What {@code scripts/bench} measures the service against: the least a server, and the least a
 * durable commit, can cost on the machine at hand. A figure without its peer says more about the
 * machine than about the service, so the peers run in the same minutes, on the same disk, and use
 * the same libraries from the same jar.
 */
package dev.bourse.bench;
