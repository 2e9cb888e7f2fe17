package dev.bourse.secrets;

import dev.bourse.core.SecretPrefix;
import dev.bourse.core.Secrets;
import dev.bourse.core.TokenSecret;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/** Random credentials of every kind: none was ever real, and none is written here. */
public final class SecretSamples {
  static final String DIGITS = "0123456789";
  static final String HEX = DIGITS + "abcdef";
  static final String UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  static final String LETTERS = UPPER + "abcdefghijklmnopqrstuvwxyz";
  static final String ALNUM = DIGITS + LETTERS;
  static final String BASE32 = UPPER + "234567";
  static final String BASE64URL = ALNUM + "-_";
  static final String BASE64 = ALNUM + "+/";

  /**
   * A text with one credential.
   *
   * @param at the place of the finding in the text
   */
  public record Sample(String label, String rule, String text, int at) {}

  private static final Map<String, byte[]> KEYS = new ConcurrentHashMap<>();

  private final Random random;
  private final List<Sample> samples = new ArrayList<>();

  SecretSamples(long seed) {
    random = new Random(seed);
  }

  /** At least one sample for each rule. */
  public static List<Sample> all(long seed) {
    SecretSamples drawn = new SecretSamples(seed);
    drawn.addPrivateKeys();
    drawn.addPrefixed();
    drawn.addAws();
    drawn.addJsonWebTokens();
    drawn.addFiles();
    drawn.addAssignments();
    drawn.samples.addAll(VendorSamples.all(seed));
    return drawn.samples;
  }

  String draw(String alphabet, int length) {
    StringBuilder drawn = new StringBuilder();
    for (int i = 0; i < length; i++) {
      drawn.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return drawn.toString();
  }

  private void add(String label, String rule, String... parts) {
    samples.add(new Sample(label, rule, String.join("", parts), 0));
  }

  private void addPointing(String label, String rule, String text, String to) {
    samples.add(new Sample(label, rule, text, text.indexOf(to)));
  }

  private void addPrivateKeys() {
    pem("PKCS8 of RSA", "", encoded("RSA", 2048));
    pem("PKCS8 of an elliptic curve", "", encoded("EC", 256));
    pem("PKCS8 of Ed25519", "", encoded("Ed25519", 255));
    pem("RSA", "RSA ", bytes(1190));
    pem("elliptic curve", "EC ", bytes(121));
    pem("DSA", "DSA ", bytes(430));
    pem("encrypted PKCS8", "ENCRYPTED ", bytes(1300));
    byte[] open = "openssh-key-v1\0\0\0\0\4none\0\0\0\4none\0\0\0\0\0\0\0\1".getBytes(latin());
    byte[] rest = bytes(300);
    byte[] key = new byte[open.length + rest.length];
    System.arraycopy(open, 0, key, 0, open.length);
    System.arraycopy(rest, 0, key, open.length, rest.length);
    pem("OpenSSH", "OPENSSH ", key);
    add(
        "encrypted RSA with headers",
        "private-key",
        begin("RSA ", "KEY"),
        "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,",
        draw(HEX, 32),
        "\n\n",
        body(bytes(1190)));
    add(
        "PGP",
        "private-key",
        begin("PGP ", "KEY BLOCK"),
        "\nVersion: GnuPG v2\nComment: of nobody\n\n",
        body(bytes(900)));
    add("in one line", "private-key", begin("", "KEY"), "\\n", body(bytes(64)).strip(), "\\n");
  }

  /** Private keys in their binary form. */
  static List<byte[]> binaryKeys() {
    return List.of(
        encoded("RSA", 2048), encoded("EC", 256), encoded("Ed25519", 255), pkcs1(), sec1());
  }

  /** The key within PKCS8, behind its algorithm. */
  private static byte[] pkcs1() {
    byte[] key = encoded("RSA", 2048);
    return Arrays.copyOfRange(key, 26, key.length);
  }

  private static byte[] sec1() {
    SecretSamples drawn = new SecretSamples(5);
    byte[] start = {0x30, 0x77, 2, 1, 1, 4, 32};
    byte[] end = {(byte) 0xa0, 10, 6, 8, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 3, 1, 7};
    return concat(concat(start, drawn.bytes(32)), concat(end, drawn.bytes(68)));
  }

  private static byte[] concat(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private void pem(String label, String kind, byte[] der) {
    add(label, "private-key", begin(kind, "KEY"), "\n", body(der), "-----END ", kind, "-----");
  }

  private static String begin(String kind, String end) {
    return "-----" + "BEGIN " + kind + "PRIVATE " + end + "-----";
  }

  private static String body(byte[] der) {
    return Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n";
  }

  /** Keys take long to create, so they are created once. */
  private static byte[] encoded(String algorithm, int size) {
    return KEYS.computeIfAbsent(algorithm, name -> made(name, size));
  }

  private static byte[] made(String algorithm, int size) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
      generator.initialize(size, new SecureRandom());
      return generator.generateKeyPair().getPrivate().getEncoded();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private byte[] bytes(int length) {
    byte[] drawn = new byte[length];
    random.nextBytes(drawn);
    return drawn;
  }

  private void addPrefixed() {
    for (String kind : List.of("p", "o", "u", "s", "r")) {
      add("GitHub gh" + kind, "github-token", "gh", kind, "_", draw(ALNUM, 36));
    }
    add(
        "GitHub fine-grained",
        "github-token",
        "github",
        "_pat_",
        draw(ALNUM, 22),
        "_",
        draw(ALNUM, 59));
    for (String kind :
        List.of("pat", "dt", "rt", "ft", "ptt", "cbt", "imt", "oas", "soat", "agent", "ffct")) {
      add("GitLab gl" + kind, "gitlab-token", "gl", kind, "-", draw(BASE64URL, 20));
    }
    for (String kind : List.of("a", "b", "p", "r", "s", "e")) {
      add(
          "Slack xox" + kind,
          "slack-token",
          "xox",
          kind,
          "-",
          draw(DIGITS, 12),
          "-",
          draw(DIGITS, 13),
          "-",
          draw(ALNUM, 24));
    }
    add(
        "Slack webhook",
        "slack-webhook",
        "hooks.slack",
        ".com/services/T",
        draw(ALNUM, 8),
        "/B",
        draw(ALNUM, 10),
        "/",
        draw(ALNUM, 24));
    add("Stripe secret", "stripe-key", "sk_", "live_", draw(ALNUM, 24));
    add("Stripe restricted", "stripe-key", "rk_", "live_", draw(ALNUM, 99));
    add("Google API", "google-api-key", "AI", "za", draw(BASE64URL, 34), draw(ALNUM, 1));
    add("Google OAuth", "google-client-secret", "GOC", "SPX-", draw(BASE64URL, 28));
    add("Hugging Face of letters", "hugging-face-token", "h", "f_", draw(LETTERS, 34));
    add("Hugging Face", "hugging-face-token", "h", "f_", draw(ALNUM, 34));
    add("Hugging Face organization", "hugging-face-token", "api", "_org_", draw(LETTERS, 34));
    add("npm", "npm-token", "np", "m_", draw(ALNUM, 36));
    add("PyPI", "pypi-token", "pyp", "i-AgEIcHlwaS5vcmc", draw(BASE64URL, 150));
    for (String kind : List.of("s", "b", "r")) {
      add("Vault hv" + kind, "vault-token", "hv", kind, ".", draw(BASE64URL, 90), "z9");
    }
    add("OpenAI", "openai-key", "sk", "-", draw(ALNUM, 20), "T3Blbk", "FJ", draw(ALNUM, 20));
    add(
        "OpenAI project",
        "openai-key",
        "sk",
        "-proj-",
        draw(BASE64URL, 74),
        "T3Blbk",
        "FJ",
        draw(BASE64URL, 74));
    add("OpenAI service", "openai-key", "sk", "-svcacct-", draw(BASE64URL, 120));
    add("OpenAI admin", "openai-key", "sk", "-admin-", draw(BASE64URL, 120));
    add("Anthropic", "anthropic-key", "sk", "-ant-api03-", draw(BASE64URL, 93), "AA");
    for (TokenSecret.Kind kind : TokenSecret.Kind.values()) {
      add("Bourse " + kind, "bourse-token", TokenSecret.mint(kind, random).text());
    }
    for (SecretPrefix prefix : SecretPrefix.values()) {
      if (!prefix.hasChecksum()) {
        add("Bourse " + prefix, "bourse-token", prefix.text(), Secrets.next(random));
      }
    }
  }

  private void addAws() {
    String id = "A" + "KIA" + draw(BASE32, 16);
    add("AWS pair", "aws-access-key", id, "\nand the other: ", awsSecret(), "\n");
    add(
        "AWS pair, temporary",
        "aws-access-key",
        "A",
        "SIA",
        draw(BASE32, 16),
        ",",
        awsSecret(),
        "\n");
    addPointing("AWS, secret first", "aws-access-key", "first " + awsSecret() + " then " + id, id);
    String name = "aws_" + "secret_access_key";
    addPointing(
        "AWS credentials",
        "aws-access-key",
        "[default]\nregion = eu-west-1\n" + name + " = " + awsSecret() + "\n",
        name);
  }

  private String awsSecret() {
    return draw(BASE64, 40);
  }

  private void addJsonWebTokens() {
    for (String header :
        List.of(
            "{\"alg\":\"HS256\",\"typ\":\"JWT\"}",
            "{\"typ\":\"JWT\",\"alg\":\"RS256\"}",
            "{\"kid\":\"k1\",\"alg\":\"ES256\"}")) {
      String payload = "{\"sub\":\"" + draw(HEX, 24) + "\",\"exp\":1790000000}";
      add(
          "JWT " + header.substring(2, 5),
          "jwt",
          jwtPart(header),
          ".",
          jwtPart(payload),
          ".",
          draw(BASE64URL, 43));
    }
    add(
        "JWT of 12 KB",
        "jwt",
        jwtPart("{\"alg\":\"HS256\"}"),
        ".",
        draw(BASE64URL, 12_000),
        ".",
        draw(BASE64URL, 86));
  }

  private static String jwtPart(String json) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(latin()));
  }

  private void addFiles() {
    String name = "client-" + "key-data";
    addPointing(
        "kubeconfig with a key",
        "kubeconfig",
        "apiVersion: v1\nkind: Config\nusers:\n- name: me\n  user:\n    "
            + name
            + ": "
            + body(bytes(900)).replace("\n", "")
            + "\n",
        name);
    addPointing(
        "kubeconfig with a token",
        "kubeconfig",
        "users:\n- name: me\n  user:\n    token: " + draw(ALNUM, 40) + "\n",
        "token:");
    addPointing(
        "kubeconfig in JSON",
        "kubeconfig",
        "{\"users\":[{\"name\":\"me\",\"user\":{\"token\":\"" + draw(ALNUM, 40) + "\"}}]}",
        "token\"");
    String auth = base64("me:" + draw(ALNUM, 20));
    addPointing(
        "docker config",
        "docker-config",
        "{\"auths\": {\"registry.test\": {\"auth\": \"" + auth + "\"}}}",
        "auth\"");
    addPointing(
        "npmrc", "npmrc", "//registry.test/:" + "_auth" + "Token=" + uuid() + "\n", "_auth");
    add("netrc", "netrc", "machine git.test.org login me password ", draw(ALNUM, 12), "\n");
    add(
        "netrc in lines",
        "netrc",
        "machine git.test.org\n  login me\n  password ",
        draw(LETTERS, 9),
        "\n");
    add(
        "netrc, another order",
        "netrc",
        "machine localhost password ",
        draw(ALNUM, 12),
        " login me\n");
    add("netrc of any host", "netrc", "default login me password ", draw(ALNUM, 12), "\n");
  }

  String uuid() {
    return String.join("-", draw(HEX, 8), draw(HEX, 4), draw(HEX, 4), draw(HEX, 4), draw(HEX, 12));
  }

  private void addAssignments() {
    for (String name :
        List.of(
            "DB_PASSWORD",
            "APP_SECRET",
            "SECRET_KEY_BASE",
            "MY_API_KEY",
            "TOKEN",
            "PRIVATE_KEY_2",
            "client_secret",
            "api_key")) {
      add(name + " of .env", "secret-assignment", name, "=", mixed(32), "\n");
    }
    add("quoted", "secret-assignment", "APP_TOKEN='", mixed(24), "'\n");
    add("of YAML", "secret-assignment", "APP_TOKEN: ", mixed(24), "\n");
    add("of a program", "secret-assignment", "API_KEY\"] = \"", mixed(24), "\"\n");
    add("of hexadecimal digits", "secret-assignment", "WANDB_API_KEY=", mixed(10), draw(HEX, 30));
    addPointing(
        "of JSON",
        "secret-assignment",
        "{\"client_secret\": \"" + mixed(32) + "\"}",
        "client_secret");
    add("with dashes", "secret-assignment", "APP_SECRET=live-eu-", mixed(20), "\n");
  }

  /** Letters and digits, at least one of each. */
  private String mixed(int length) {
    return draw(DIGITS, 1) + draw(LETTERS, 1) + draw(ALNUM, length - 2);
  }

  static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(latin()));
  }

  private static Charset latin() {
    return StandardCharsets.ISO_8859_1;
  }
}
