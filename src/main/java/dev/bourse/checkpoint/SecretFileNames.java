package dev.bourse.checkpoint;

import java.util.Locale;
import java.util.Set;

/** Files that hold credentials by what they are for, whatever is in them. */
final class SecretFileNames {
  private static final Set<String> REFUSED =
      Set.of(
          ".env",
          ".netrc",
          "_netrc",
          "id_rsa",
          "id_dsa",
          "id_ecdsa",
          "id_ecdsa_sk",
          "id_ed25519",
          "id_ed25519_sk",
          "kubeconfig",
          "kubeconfig.yaml",
          "kubeconfig.yml",
          "kubeconfig.json",
          ".dockercfg",
          ".git-credentials");

  /** Ends of the names of templates, which are there to be shown. */
  private static final Set<String> TEMPLATES = Set.of("example", "sample", "template", "dist");

  private SecretFileNames() {}

  /** The name without folders, in lower case. */
  static String plain(String fileName) {
    int folder = Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\'));
    return fileName.substring(folder + 1).toLowerCase(Locale.ROOT);
  }

  static boolean isRefused(String plain) {
    boolean template = TEMPLATES.contains(plain.substring(plain.lastIndexOf('.') + 1));
    return REFUSED.contains(plain)
        || plain.endsWith(".kubeconfig")
        || (plain.startsWith(".env.") && !template);
  }
}
