package dev.bourse.faults;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;

/** Public ssh keys that nobody has the other half of. */
final class Keys {
  private Keys() {}

  static String next(Random random) {
    byte[] kind = "ssh-ed25519".getBytes(StandardCharsets.US_ASCII);
    byte[] key = new byte[32];
    random.nextBytes(key);
    ByteBuffer wire =
        ByteBuffer.allocate(8 + kind.length + key.length)
            .putInt(kind.length)
            .put(kind)
            .putInt(key.length)
            .put(key);
    return "ssh-ed25519 " + Base64.getEncoder().encodeToString(wire.array());
  }
}
