package dev.bourse.secrets;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Names of files whose purpose is to hold credentials; the content does not matter. */
final class SecretFileNames {
  private static final Set<String> REFUSED =
      Set.of(
          """
          .env .envrc .netrc _netrc id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk \
          kubeconfig kubeconfig.yaml kubeconfig.yml kubeconfig.json .dockercfg .git-credentials \
          .pgpass .vault-token .htpasswd .s3cfg .boto kaggle.json credentials.tfrc.json\
          """
              .split(" "));

  /** Endings of compressed files. */
  private static final Set<String> PACKED = Set.of("gz", "bz2", "xz", "zst");

  /** Parts of the names of templates, which are meant to be published. */
  private static final Set<String> TEMPLATES = Set.of("example", "sample", "template", "dist");

  private SecretFileNames() {}

  /** The name without folders, in lower case. */
  static String plain(String fileName) {
    int folder = Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\'));
    return fileName.substring(folder + 1).toLowerCase(Locale.ROOT);
  }

  /** The name without the ending of a compressed file. */
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

  /** Whether files of this name hold environment variables, one a line. */
  static boolean isEnvironment(String plain) {
    List<String> parts = parts(unpacked(plain));
    return (parts.contains("env") || parts.contains("envrc")) && !isTemplate(plain);
  }

  /** Whether rules judge the content differently because of this name. */
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
