package dev.bourse.keyring;

import dev.bourse.core.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The secret keys that all processes of a store share.
 *
 * @param keyring encrypts and decrypts; empty when no key is configured
 * @param giveUp ids of lost keys; the start deletes the secrets encrypted with them
 * @param file the file with the keys; empty when they came as a setting, or not at all
 */
public record SecretConfig(Keyring keyring, Set<String> giveUp, Optional<Path> file) {
  private static final String KEY = "secret.key";
  private static final String KEY_FILE = "secret.key-file";
  private static final String GIVE_UP = "secret.give-up";

  /** The file in the data folder that is read if no setting names a key. */
  public static final String FILE = "demo-secret.key";

  private static final Pattern HEX = Pattern.compile("[0-9A-Fa-f]{64}");
  private static final Pattern ID = Pattern.compile("[0-9a-f]{8}");

  /** Two during a change of keys; more would mean that an earlier change was never finished. */
  private static final int MOST_KEYS = 4;

  private static final String ACCEPTED =
      "32 random bytes as 64 hexadecimal digits or in base64, such as `openssl rand -hex 32`"
          + " prints";

  /** The configuration of a process without a secret key. */
  public static SecretConfig none() {
    return new SecretConfig(Keyring.empty(), Set.of(), Optional.empty());
  }

  /**
   * Maps settings {@code secret.key} (best given as {@code BOURSE_SECRET_KEY}) or {@code
   * secret.key-file}, and {@code secret.give-up}. Reads the file; without either setting, the file
   * {@link #FILE} if there is one. Faults are recorded in the settings and never show a key.
   *
   * @param data the data folder
   */
  public static SecretConfig from(Settings settings, Path data) {
    String text = settings.text(KEY, "");
    String file = settings.text(KEY_FILE, "");
    String source = KEY;
    Path beside = data.resolve(FILE);
    if (text.isEmpty() && file.isEmpty() && Files.isRegularFile(beside)) {
      file = beside.toString();
    }
    if (!file.isEmpty()) {
      if (!text.isEmpty()) {
        settings.fault(KEY_FILE, file, "no file, because secret.key is set; set one of the two");
      }
      source = KEY_FILE;
      text = read(settings, file);
    }
    Set<String> giveUp = new TreeSet<>();
    for (String id : words(settings.text(GIVE_UP, ""))) {
      if (ID.matcher(id).matches()) {
        giveUp.add(id);
      } else {
        settings.fault(GIVE_UP, id, "ids of secret keys from the message of a refused start");
      }
    }
    Keyring keyring = Keyring.of(keys(settings, source, words(text)));
    giveUp.stream()
        .filter(keyring.ids()::contains)
        .forEach(id -> settings.fault(GIVE_UP, id, "ids of lost keys; this key is configured"));
    return new SecretConfig(
        keyring,
        giveUp,
        keyring.isEmpty() || file.isEmpty() ? Optional.empty() : Optional.of(Path.of(file)));
  }

  private static String read(Settings settings, String file) {
    try {
      String text = Files.readString(Path.of(file));
      if (text.isBlank()) {
        settings.fault(KEY_FILE, file, "a file with a secret key in it; this one is empty");
      }
      return text;
    } catch (IOException | IllegalArgumentException unreadable) {
      settings.fault(KEY_FILE, file, "a file of text: " + unreadable);
      return "";
    }
  }

  private static List<byte[]> keys(Settings settings, String source, List<String> words) {
    List<byte[]> keys = new ArrayList<>();
    Set<String> ids = new TreeSet<>();
    for (String word : words) {
      byte[] key = decoded(word);
      String which = "key %s of %s, not shown".formatted(keys.size() + 1, words.size());
      if (key.length != Keyring.KEY_BYTES) {
        settings.fault(source, which, ACCEPTED);
        return List.of();
      }
      if (!ids.add(Keyring.idOf(key))) {
        settings.fault(source, which, "each key once");
      }
      keys.add(key);
    }
    if (keys.size() > MOST_KEYS) {
      settings.fault(source, keys.size() + " keys", "at most " + MOST_KEYS);
    }
    return keys;
  }

  /** The key's bytes; empty for an unknown encoding. */
  private static byte[] decoded(String word) {
    if (HEX.matcher(word).matches()) {
      return HexFormat.of().parseHex(word);
    }
    try {
      return Base64.getDecoder().decode(word.replace('-', '+').replace('_', '/'));
    } catch (IllegalArgumentException neither) {
      return new byte[0];
    }
  }

  private static List<String> words(String text) {
    return Pattern.compile("[,\\s]+").splitAsStream(text).filter(word -> !word.isEmpty()).toList();
  }
}
