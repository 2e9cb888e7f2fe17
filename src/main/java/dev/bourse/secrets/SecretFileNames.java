package dev.bourse.secrets;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Files that hold credentials by what they are for, whatever is in them. */
final class SecretFileNames {
  private static final Set<String> REFUSED =
      Set.of(
          """
          .env .envrc .netrc _netrc id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk \
          kubeconfig kubeconfig.yaml kubeconfig.yml kubeconfig.json .dockercfg .git-credentials \
          .pgpass .vault-token .htpasswd .s3cfg .boto kaggle.json credentials.tfrc.json\
          """
              .split(" "));

  /** Endings of packed files. */
  private static final Set<String> PACKED = Set.of("gz", "bz2", "xz", "zst");

  /** Parts of the names of templates, which are there to be shown. */
  private static final Set<String> TEMPLATES = Set.of("example", "sample", "template", "dist");

  private SecretFileNames() {}

  /** The name without folders, in lower case. */
  static String plain(String fileName) {
    int folder = Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\'));
    return fileName.substring(folder + 1).toLowerCase(Locale.ROOT);
  }

  /** The name of what a packed file unpacks to: without the ending that says it is packed. */
  static String unpacked(String plain) {
    int dot = plain.lastIndexOf('.');
    return dot > 0 && PACKED.contains(plain.substring(dot + 1)) ? plain.substring(0, dot) : plain;
  }

  static boolean isRefused(String plain) {
    String name = unpacked(plain);
    return REFUSED.contains(name)
        || name.endsWith(".kubeconfig")
        || name.endsWith(".ppk")
        || ((name.startsWith(".env.") || name.startsWith(".envrc.") || name.endsWith(".env"))
            && !isTemplate(name));
  }

  /** Whether settings of an environment are what the name promises, one line for each. */
  static boolean isEnvironment(String plain) {
    List<String> parts = parts(unpacked(plain));
    return (parts.contains("env") || parts.contains("envrc")) && !isTemplate(plain);
  }

  /** Whether rules judge a file of that name otherwise than the same bytes elsewhere. */
  static boolean isOfSettings(String plain) {
    return plain.equals(".pypirc") || isEnvironment(plain);
  }

  private static boolean isTemplate(String plain) {
    return parts(plain).stream().anyMatch(TEMPLATES::contains);
  }

  private static List<String> parts(String plain) {
    return List.of(plain.split("[._-]+", -1));
  }
}
