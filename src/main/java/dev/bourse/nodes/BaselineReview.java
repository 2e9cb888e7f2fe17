package dev.bourse.nodes;

import java.util.List;

/**
 * The configuration that root owns on a machine, compared with the accepted one.
 *
 * @param digest the SHA-256 of the machine's list, in hexadecimal
 * @param changes lines that are gone, with a leading {@code -}, and new ones, with a {@code +}; at
 *     most 1,000
 */
public record BaselineReview(String digest, List<String> changes) {
  public BaselineReview {
    changes = List.copyOf(changes);
  }
}
