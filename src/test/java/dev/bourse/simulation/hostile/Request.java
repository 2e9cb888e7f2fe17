package dev.bourse.simulation.hostile;

/**
 * A request as bytes.
 *
 * @param target of the request line
 * @param isWhole whether it certainly is one complete request, so that an answer is due
 */
@SuppressWarnings("ArrayRecordComponent") // No two of them are compared.
record Request(String method, String target, byte[] bytes, boolean isWhole) {
  /** Bytes of a request that a failure shows; the seed reproduces the rest. */
  private static final int MOST_SHOWN = 6_000;

  /** Returns a bash command that sends it again, to the service at {@code $PORT}. */
  String command() {
    StringBuilder out = new StringBuilder("printf '");
    for (int i = 0; i < Math.min(bytes.length, MOST_SHOWN); i++) {
      int b = bytes[i] & 0xff;
      switch (b) {
        case '\r' -> out.append("\\r");
        case '\n' -> out.append("\\n");
        case '\\' -> out.append("\\\\");
        case '%' -> out.append("%%");
        case '\'' -> out.append("\\x27");
        default -> {
          if (b >= 0x20 && b < 0x7f) {
            out.append((char) b);
          } else {
            out.append(String.format("\\x%02x", b));
          }
        }
      }
    }
    return out.append("' | nc -w 3 127.0.0.1 $PORT")
        .append(bytes.length > MOST_SHOWN ? " # cut off, of " + bytes.length + " bytes" : "")
        .toString();
  }
}
