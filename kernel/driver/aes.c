// SPDX-License-Identifier: GPL-2.0
/*
 * AES-XTS by the processor's instructions, for dm-crypt.
 *
 * This architecture has only the code in C, which takes most of the wall time of a trial with LUKS: 100 MB/s. The value is the
 * same, and so is virtual time: none without a processor model, and with one that of the bytes.
 */
#include <crypto/aes.h>
#include <crypto/internal/skcipher.h>
#include <crypto/xts.h>
#include <linux/module.h>
#include <linux/version.h>

/* Later kernels have another interface to the tables of AES. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)

/* Blocks that are encrypted together: the instruction takes several cycles, and a new one begins in each. */
#define BLOCKS 8

struct xts_key {
	struct crypto_aes_ctx data;
	struct crypto_aes_ctx tweak;
};

/* On all blocks, with the round key at %1. */
#define ALL(instruction)						\
	"movups (%1), %%xmm8\n"						\
	instruction " %%xmm8, %%xmm0\n"					\
	instruction " %%xmm8, %%xmm1\n"					\
	instruction " %%xmm8, %%xmm2\n"					\
	instruction " %%xmm8, %%xmm3\n"					\
	instruction " %%xmm8, %%xmm4\n"					\
	instruction " %%xmm8, %%xmm5\n"					\
	instruction " %%xmm8, %%xmm6\n"					\
	instruction " %%xmm8, %%xmm7\n"

#define EACH(register, place, instruction)				\
	"movups " place "(%4), %%xmm8\n"				\
	instruction(register, place)

#define WHITEN_IN(register, place)					\
	"movups " place "(%3), %%" register "\n"			\
	"pxor %%xmm8, %%" register "\n"

#define WHITEN_OUT(register, place)					\
	"pxor %%xmm8, %%" register "\n"					\
	"movups %%" register ", " place "(%2)\n"

#define EVERY(instruction)						\
	EACH("xmm0", "0", instruction)					\
	EACH("xmm1", "16", instruction)					\
	EACH("xmm2", "32", instruction)					\
	EACH("xmm3", "48", instruction)					\
	EACH("xmm4", "64", instruction)					\
	EACH("xmm5", "80", instruction)					\
	EACH("xmm6", "96", instruction)					\
	EACH("xmm7", "112", instruction)

#define REGISTERS(move)							\
	move("0", "xmm0") move("16", "xmm1") move("32", "xmm2")		\
	move("48", "xmm3") move("64", "xmm4") move("80", "xmm5")	\
	move("96", "xmm6") move("112", "xmm7") move("128", "xmm8")

#define SAVE(place, register) "movups %%" register ", " place "(%5)\n"
#define RESTORE(place, register) "movups " place "(%5), %%" register "\n"

/*
 * The registers are those of the program that runs: the kernel itself uses none, and nothing else can run in between.
 * %0: rounds that are left, %1: their keys.
 */
#define CRYPT(round, last)						\
	asm volatile(REGISTERS(SAVE)					\
		     EVERY(WHITEN_IN)					\
		     ALL("pxor")					\
		     "add $16, %1\n"					\
		     "1:\n"						\
		     ALL(round)						\
		     "add $16, %1\n"					\
		     "dec %0\n"						\
		     "jnz 1b\n"						\
		     ALL(last)						\
		     EVERY(WHITEN_OUT)					\
		     REGISTERS(RESTORE)					\
		     : "+r" (rounds), "+r" (keys)			\
		     : "r" (to), "r" (from), "r" (tweaks), "r" (saved)	\
		     : "memory", "cc")

static void crypt_blocks(const struct crypto_aes_ctx *key, bool encrypt, u8 *to, const u8 *from, const le128 *tweaks)
{
	u8 saved[9 * AES_BLOCK_SIZE];
	/* 10, 12 or 14, of which the last one differs. */
	long rounds = key->key_length / 4 + 5;
	const u32 *keys = encrypt ? key->key_enc : key->key_dec;

	if (encrypt)
		CRYPT("aesenc", "aesenclast");
	else
		CRYPT("aesdec", "aesdeclast");
}

/* The tweak of the next block: times x in GF(2^128). */
static void next_tweak(le128 *tweak)
{
	u64 low = le64_to_cpu(tweak->b), high = le64_to_cpu(tweak->a);
	u64 carry = (s64)high < 0 ? 0x87 : 0;

	tweak->a = cpu_to_le64(high << 1 | low >> 63);
	tweak->b = cpu_to_le64(low << 1 ^ carry);
}

static void crypt_piece(const struct crypto_aes_ctx *key, bool encrypt, u8 *to, const u8 *from, unsigned int blocks,
			le128 *tweak)
{
	le128 tweaks[BLOCKS];
	u8 piece[BLOCKS * AES_BLOCK_SIZE];
	unsigned int i;

	while (blocks) {
		unsigned int now = min(blocks, (unsigned int)BLOCKS), bytes = now * AES_BLOCK_SIZE;

		for (i = 0; i < now; i++) {
			tweaks[i] = *tweak;
			next_tweak(tweak);
		}
		if (now == BLOCKS) {
			crypt_blocks(key, encrypt, to, from, tweaks);
		} else {
			memcpy(piece, from, bytes);
			crypt_blocks(key, encrypt, piece, piece, tweaks);
			memcpy(to, piece, bytes);
		}
		blocks -= now;
		to += bytes;
		from += bytes;
	}
}

static int crypt(struct skcipher_request *request, bool encrypt)
{
	struct xts_key *key = crypto_skcipher_ctx(crypto_skcipher_reqtfm(request));
	struct skcipher_walk walk;
	le128 tweak;
	int error;

	/* dm-crypt's sectors are whole blocks. */
	if (!request->cryptlen || request->cryptlen % AES_BLOCK_SIZE)
		return -EINVAL;
	error = skcipher_walk_virt(&walk, request, false);
	if (error)
		return error;
	aes_encrypt(&key->tweak, (u8 *)&tweak, walk.iv);
	while (walk.nbytes) {
		unsigned int blocks = walk.nbytes / AES_BLOCK_SIZE;

		crypt_piece(&key->data, encrypt, walk.dst.virt.addr, walk.src.virt.addr, blocks, &tweak);
		error = skcipher_walk_done(&walk, walk.nbytes % AES_BLOCK_SIZE);
	}
	return error;
}

static int encrypt(struct skcipher_request *request)
{
	return crypt(request, true);
}

static int decrypt(struct skcipher_request *request)
{
	return crypt(request, false);
}

static int set_key(struct crypto_skcipher *cipher, const u8 *bytes, unsigned int length)
{
	struct xts_key *key = crypto_skcipher_ctx(cipher);
	int error = xts_verify_key(cipher, bytes, length);

	if (!error)
		error = aes_expandkey(&key->data, bytes, length / 2);
	if (!error)
		error = aes_expandkey(&key->tweak, bytes + length / 2, length / 2);
	return error;
}

static struct skcipher_alg xts = {
	.base.cra_name		= "xts(aes)",
	.base.cra_driver_name	= "xts-aes-raidlab",
	.base.cra_priority	= 400,
	.base.cra_blocksize	= AES_BLOCK_SIZE,
	.base.cra_ctxsize	= sizeof(struct xts_key),
	.base.cra_module	= THIS_MODULE,
	.min_keysize		= 2 * AES_MIN_KEY_SIZE,
	.max_keysize		= 2 * AES_MAX_KEY_SIZE,
	.ivsize			= AES_BLOCK_SIZE,
	.setkey			= set_key,
	.encrypt		= encrypt,
	.decrypt		= decrypt,
};

static bool __init has_instructions(void)
{
	u32 eax = 1, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a" (eax), "=b" (ebx), "+c" (ecx), "=d" (edx));
	return ecx >> 25 & 1;
}

static int __init aes_init(void)
{
	return has_instructions() ? crypto_register_skcipher(&xts) : 0;
}
module_init(aes_init);

#endif
