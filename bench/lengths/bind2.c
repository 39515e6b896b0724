// BIND: a signature record says how long its signer's name is; the rest is copied with a bound that forgets what is there already.
#include <stdlib.h>
#include <string.h>
#include <colt.h>

#define MAXDNAME 256
#define MAXDATA 1024
#define FIXEDSIZE 18

struct sig {
    unsigned short covered;
    unsigned char algorithm, labels;
    unsigned ttl, expires, signed_at;
    unsigned short footprint;
};

struct answer {
    struct sig sig;
    char signer[MAXDNAME];
    size_t n_data;
};

static struct answer answers[4];
static int n_answers;

static struct answer *new_answer(void) {
    if (n_answers == 4)
        return NULL;
    return &answers[n_answers++];
}

static int valid_label(const char *name) {
    if (name[0] == '.' || name[0] == '-')
        return 0;
    return name[0] != '\0';
}

/* The header, the signer and the signature one after the other, as they go to the data base. */
static size_t pack(char *data, const struct sig *sig, const char *signer, const char *signature) {
    char *cp = data;
    memset(cp, 0, FIXEDSIZE);
    cp[0] = (char)(sig->covered >> 8);
    cp[1] = (char)sig->covered;
    cp[2] = (char)sig->algorithm;
    cp[3] = (char)sig->labels;
    cp += FIXEDSIZE;
    size_t n_signer = strlen(signer) + 1;
    memcpy(cp, signer, n_signer);
    cp += n_signer;
    size_t n = strlen(signature);
    memcpy(cp, signature, n);
    cp += n;
    return (size_t)(cp - data);
}

static int add_signature(const struct sig *sig, const char *signer, const char *signature) {
    char data[MAXDATA];
    size_t n_signer = strlen(signer) + 1, n = strlen(signature);
    if (!valid_label(signer) || n_signer > MAXDNAME)
        return -1;
#ifdef FIXED
    if (FIXEDSIZE + n_signer + n > sizeof data)
#else
    if (n > sizeof data - FIXEDSIZE)
#endif
        return -1;
    struct answer *answer = new_answer();
    if (!answer)
        return -1;
    answer->sig = *sig;
    answer->n_data = pack(data, sig, signer, signature);
    strncpy(answer->signer, signer, sizeof answer->signer - 1);
    answer->signer[sizeof answer->signer - 1] = '\0';
    return 0;
}

int main(void) {
    struct sig sig = {.covered = 1, .algorithm = 5, .labels = 2, .ttl = 3600};
    char *signer = colt_string("signer"), *signature = colt_string("signature");
    if (add_signature(&sig, signer, signature) < 0)
        return 1;
    return answers[0].signer[0] == '*';
}
