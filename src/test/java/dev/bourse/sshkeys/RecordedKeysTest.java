package dev.bourse.sshkeys;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The exact text of answers on SSH keys, with a distinct value in each member. */
@Tag("fast")
class RecordedKeysTest {
  private static final long T0 = 1_700_000_000_000L;

  @Test
  void keys() {
    assertEquals(
        """
        {"keys":[{"key_id":"k1","name":"laptop","public_key":"ssh-ed25519 AAAA","fingerprint":\
        "SHA256:x","cluster":"c1","created_at":"2023-11-14T22:13:20.000Z","created_by":\
        "token:abc"},{"key_id":"k2","name":"ci","public_key":"ssh-ed25519 BBBB","fingerprint":\
        "SHA256:y","cluster":null,"created_at":"2023-11-14T22:13:21.000Z","created_by":\
        "token:def"}]}\
        """,
        SshKeyRoutes.toJson(
                List.of(
                    new SshKey(
                        "k1",
                        "acme",
                        "laptop",
                        "ssh-ed25519 AAAA",
                        "SHA256:x",
                        "c1",
                        T0,
                        "token:abc"),
                    new SshKey(
                        "k2",
                        "acme",
                        "ci",
                        "ssh-ed25519 BBBB",
                        "SHA256:y",
                        null,
                        T0 + 1_000,
                        "token:def")))
            .toBuffer()
            .toString());
  }

  @Test
  void aRevocation() {
    assertEquals(
        """
        {"ok":true,"key_id":"k1","revoked_at":"2023-11-14T22:13:20.000Z","still_on":["10.0.0.1"]}\
        """,
        SshKeyRoutes.toJson(new SshKeyService.Revoked("k1", T0, List.of("10.0.0.1")))
            .toBuffer()
            .toString());
  }
}
