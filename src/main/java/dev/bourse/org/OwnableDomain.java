package dev.bourse.org;

import com.google.common.net.InternetDomainName;
import dev.bourse.core.ApiException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Decides which domains an organization can own: those that are neither a public suffix, under
 * which anybody can register names, nor a public mail provider's.
 */
final class OwnableDomain {
  /** Labels of letters, digits and hyphens (RFC 1035), at least two; other scripts use punycode. */
  static final String PATTERN =
      "(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.){1,126}[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";

  private static final Pattern NAME = Pattern.compile(PATTERN);

  private static final Set<String> MAIL_PROVIDERS = mailProviders();

  private OwnableDomain() {}

  private static Set<String> mailProviders() {
    try (InputStream list =
            Objects.requireNonNull(
                OwnableDomain.class.getResourceAsStream("/org/public-mail-domains.txt"),
                "the list of public mail providers is missing");
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(list, StandardCharsets.US_ASCII))) {
      return lines
          .lines()
          .filter(line -> !line.isEmpty() && line.charAt(0) != '#')
          .collect(Collectors.toUnmodifiableSet());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Rejects a domain that no organization can own.
   *
   * @param domain in lower case
   * @throws ApiException {@code bad-request} naming the field
   */
  static void require(String field, String domain) {
    // The name of the DNS record must also fit into the 253 characters of a name.
    if (!NAME.matcher(domain).matches() || DomainProof.recordName(domain).length() > 253) {
      throw ApiException.badField(field, domain, "a domain name such as acme.example");
    }
    if (!InternetDomainName.isValid(domain) || InternetDomainName.from(domain).isPublicSuffix()) {
      throw ApiException.badField(
          field,
          domain,
          "a domain of your organization, not a suffix under which anybody registers names");
    }
    if (MAIL_PROVIDERS.contains(domain)) {
      throw ApiException.badField(
          field,
          domain,
          """
          a domain of your organization, not of a public mail provider; invite people by their \
          addresses instead\
          """);
    }
  }
}
