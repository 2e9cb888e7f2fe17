/**
 * Blobs in an object store that speaks S3, shared by all processes on one database.
 *
 * <p>The rows are the truth: which uploads there are, which of their parts arrived under which tag,
 * which blobs there are and how long they are. The store is asked for bytes, never for what exists;
 * it is never listed on the way of a request, and every object's name follows from a row that was
 * stored before the object was made.
 *
 * <p>An upload's bytes pass the inspector and go to a spool, a file of one part on this machine: a
 * part then has a length that is known, can be sent again without its client, and memory does not
 * grow with it. A full spool is sent as a part of a multipart upload; what is shorter when a
 * request ends is kept as a piece, an object of its own, from which another process fills its
 * spool. So a process that dies loses the part under way and no more. Each opening raises the
 * upload's <em>epoch</em>, and every commit of an opening demands its own: of two processes that
 * append at once the later opening has the upload, and nothing is mixed. A name that is used again
 * begins at the first epoch with another <em>base</em>, which the commits demand as well: a process
 * that kept an opening of the upload before has nothing of the new one. Part numbers and borders
 * are fixed by the offset. What a frozen process sends after it thaws can only overwrite a part
 * whose recorded tag then no longer matches; the store refuses such a completion, and the upload
 * begins anew.
 *
 * <p>The end of an upload that several openings took reads all of it back, minutes for tens of GiB,
 * and a balancer sends the client's next try to another process. So a process at an end that lasts
 * tells of it in the upload's row, for some seconds at a time, and the others refuse to open it
 * meanwhile. That is courtesy and no lock: where it is not told, not seen or not true, each of them
 * reads the same object, and the first that is done has done it for all.
 *
 * <p>An opening takes rows alone: a spool begins behind the pieces that others kept, and these are
 * read only once their part is full or the upload ends. Read at each opening, tails cost the store
 * up to a part for each client that turned to another process and left again before its turn.
 * Rejected: to refuse whatever upload another process had moments ago, which has clients wait for
 * processes that died.
 *
 * <p>"Completing" is stored before the completion is asked for, and nothing aborts after that: the
 * completion is asked for until it is known to have happened, or known to be impossible. A blob is
 * readable with the one commit that gives its key an object. Parts of an unfinished multipart
 * upload can be read by nobody, so when several openings took an upload's bytes the finished object
 * is read back once through the inspector before that commit: a digest that was not computed is not
 * believed.
 *
 * <p>A part is sent while its bytes come: the request begins with the first of them and follows the
 * spool, so that taking, inspecting and sending go on at once. A tail that does not become a part,
 * or a client that is slow, breaks that request off; nothing is recorded of it. So of an upload one
 * part at most is unrecorded at any time.
 *
 * <p>The protocol, its signatures and its retries are the AWS SDK's, used synchronously on bounded
 * pools of threads: no second Netty, and nothing that blocks on an event loop. The library's newer
 * checksums are sent only where the protocol demands them, since other makers' services refuse
 * them.
 *
 * <p>Bytes are verified by their MD5 instead, which every service knows. Bytes that are whole
 * before they are sent carry it as {@code Content-MD5}, and the tag that the store answers is
 * compared with it wherever a tag is a digest. A part that is sent while its bytes come is compared
 * by its tag alone. Where the store says by its answer that a tag is no digest, as with keys of
 * KMS, a part is sent only once it is spooled, with {@code Content-MD5}. Altered bytes are sent
 * again, three times at most.
 *
 * <p>Under it is the client of the JDK. Measured on two cores that the store shared, 512 MiB in
 * parts of 16 MiB, in MB/s: 305 up and 2,400 down, against 305 and 2,290 of Apache's, which would
 * be four libraries more. Payloads are signed chunk by chunk over plain HTTP; signed as a whole
 * they are read twice, and only 200 go up. Through this store, inspected, 255 went up; sent only
 * once the spool was full it was 150. Down it is 0.75 to 0.85 of the bare client in pieces of 256
 * KiB, of which several are read ahead; one by one it was half. With a client on the same two cores
 * that takes what is read, it is half, and half of what nginx passes on: an answer's bytes are
 * copied from the socket to the heap and from there to the other socket, by two threads, which is
 * 1.0 s of CPU a GiB. Vert.x's client would copy them as often, and would know nothing of the
 * proxies and trust that the SDK is configured with. Amazon's native client was not tried: it is a
 * library for each platform.
 */
@NullMarked
package dev.bourse.blob.s3;

import org.jspecify.annotations.NullMarked;
