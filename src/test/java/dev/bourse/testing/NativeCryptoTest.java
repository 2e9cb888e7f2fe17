package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.security.MessageDigest;
import java.security.Security;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Digests of tests are those of the JDK, which the service computes. */
@Tag("fast")
class NativeCryptoTest {
  @ParameterizedTest
  @ValueSource(strings = {"SHA-256", "MD5"})
  void digestsAreThoseOfTheJdkAlsoAfterACopy(String algorithm) throws Exception {
    MessageDigest digest = MessageDigest.getInstance(algorithm);
    MessageDigest reference = MessageDigest.getInstance(algorithm, Security.getProvider("SUN"));
    byte[] bytes = new byte[100_003];
    new Random(1).nextBytes(bytes);
    for (int from = 0, length = 1; from + length <= bytes.length; from += length, length += 97) {
      digest.update(bytes, from, length);
      reference.update(bytes, from, length);
      MessageDigest copy = (MessageDigest) digest.clone();
      assertArrayEquals(((MessageDigest) reference.clone()).digest(), copy.digest());
    }
    assertArrayEquals(reference.digest(), digest.digest());
  }

  @Test
  void theNativeLibraryIsInUseWhereItHasCodeForTheMachine() {
    boolean isX64Linux =
        System.getProperty("os.name").equals("Linux")
            && System.getProperty("os.arch").equals("amd64");
    assertEquals(isX64Linux, Security.getProvider(NativeCrypto.NAME) != null);
  }
}
